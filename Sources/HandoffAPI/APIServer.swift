import HTTPServer
package import HandoffLog
import HandoffProtocol
package import LinuxSystem

/// The broker's HTTP API, version 3.
package final class APIServer: Sendable {
  private static let longestBody = HandoffResult.maximumSize

  private let hosts: HostCheck
  private let results: ResultDoor
  private let assets: AssetDoor
  private let logger: Logger

  /// - Parameters:
  ///   - hosts: names accepted in the `Host` header besides the local ones.
  ///   - surroundings: what it asks of the rest of the broker.
  ///   - logger: told of trouble, and of what was refused.
  package init(hosts: [String], surroundings: APISurroundings, logger: Logger) {
    self.hosts = HostCheck(hosts)
    results = ResultDoor(surroundings: surroundings, logger: logger)
    assets = AssetDoor(surroundings: surroundings, logger: logger)
    self.logger = logger
  }

  /// Serves a listening socket until the task is cancelled.
  ///
  /// - Throws: what the system says when it cannot be served.
  package func serve(_ listener: FileDescriptor) async throws(SystemError) {
    let server = try HTTPServer(
      listener,
      tooLarge: { [self] in refused(Self.tooLarge) },
      route: { [self] head in route(head) }
    )
    while !Task.isCancelled {
      do {
        try await Task.sleep(for: .seconds(3600))
      } catch {
        // Cancelled: that is how serving ends.
      }
    }
    await server.stop()
  }

  private func route(_ head: HTTPRequestHead) -> HTTPRoute {
    guard hosts.accepts(head.headers.values("Host")) else {
      return refuse(
        Problem(421, .notConfigured, "this name of the host is not among allowed_hosts")
      )
    }
    let path = (head.segments ?? []).map { String(decoding: $0, as: UTF8.self) }
    switch path.count {
    case 2 where path == ["v3", "results"]:
      guard head.method == "POST" else { return refuse(Self.onlyWith("POST")) }
      return .collect(limit: Self.longestBody) { [self] request in
        await answer { () throws(Problem) in try await results.take(request) }
      }
    case 4 where path[0...1] == ["v3", "assets"] && path[3] == "data":
      guard ["GET", "HEAD"].contains(head.method) else { return refuse(Self.onlyWith("GET, HEAD")) }
      return .collect(limit: Self.longestBody) { [self] request in
        await answer { () throws(Problem) in try await assets.open(request.head, uuid: path[2]) }
      }
    default:
      return refuse(Problem(404, .malformedRequest, "there is nothing under this path"))
    }
  }

  private func answer(
    _ work: () async throws(Problem) -> HTTPResponse
  ) async -> HTTPAnswer {
    do throws(Problem) {
      return .response(try await work())
    } catch {
      return .response(refused(error))
    }
  }

  private func refuse(_ problem: Problem) -> HTTPRoute {
    .answer(.response(refused(problem)))
  }

  private func refused(_ problem: Problem) -> HTTPResponse {
    let code = problem.code.text
    // Anybody can have any number of requests refused; each must not cost a line.
    logger.warning(
      "A request was refused",
      [.errorCode: code],
      cause: "requests refused as \(code)"
    )
    return problem.response
  }

  private static let tooLarge = Problem(
    413,
    .malformedRequest,
    "the body has more than \(longestBody) bytes"
  )

  private static func onlyWith(_ methods: String) -> Problem {
    Problem(
      405,
      .malformedRequest,
      "this path is used with \(methods)",
      headers: ["Allow": methods]
    )
  }
}
