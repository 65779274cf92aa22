package import HandoffProtocol
import HandoffWire
package import LinuxSystem
package import Paths
import Synchronization

/// The broker's end of a plugin's socket, for tests: grants what it was told to, and keeps what comes.
package final class TestBroker: Sendable {
  private let desk: Desk
  private let peer: RPCPeer
  /// Each result as it comes, also one that came before anybody asked.
  package let results: AsyncStream<HandoffResult>

  /// - Parameter socket: the broker's end; ``run()`` serves it.
  package init(_ socket: FileDescriptor) {
    let (stream, continuation) = AsyncStream.makeStream(of: HandoffResult.self)
    let desk = Desk(arrivals: continuation)
    results = stream
    peer = RPCPeer(socket: socket) { method, parameters throws(RPCMessage.Failure) in
      try desk.answer(method, parameters)
    }
    self.desk = desk
  }

  /// Serves the connection until it ends; results that were awaited then end too.
  package func run() async throws {
    defer { desk.arrivals.finish() }
    try await peer.run()
  }

  /// Hangs up.
  package func close() {
    peer.close()
  }

  /// Grants an asset.
  package func grant(_ identifier: LocalIdentifier, _ asset: ResolvedAsset) {
    desk.known.withLock { $0.assets[identifier] = asset }
  }

  /// Refuses the next result so.
  package func refuseResult(_ error: ResultError) {
    desk.known.withLock { $0.resultRefusal = error }
  }

  /// Every result that has come over this connection.
  package var received: [HandoffResult] { desk.known.withLock { $0.results } }

  /// Every sign of life.
  package var progress: [ProgressParameters] { desk.known.withLock { $0.progress } }

  /// Every rendition that was registered.
  package var renditions: [RegisterParameters] { desk.known.withLock { $0.renditions } }

  /// From now on it answers as a broker of a release that knows no renditions.
  package func takeNoRenditions() {
    desk.known.withLock { $0.takesRenditions = false }
  }

  /// Sends a message and decodes its answer.
  nonisolated(nonsending) package func ask<Answer: Decodable>(
    _ method: MessageMethod,
    _ parameters: some Encodable,
    _ type: Answer.Type = Answer.self
  ) async throws -> Answer {
    let answer = try await peer.call(method.rawValue, WireCoder.value(parameters))
    return try WireCoder.document(type, from: answer)
  }

  /// Sends any message.
  nonisolated(nonsending) package func ask(_ method: String) async throws -> JSONValue {
    try await peer.call(method, .object([:]))
  }

  /// Introduces itself.
  @discardableResult
  nonisolated(nonsending) package func discover(
    _ settings: JSONValue,
    versions: [Int] = [HandoffRequest.currentVersion]
  ) async throws -> Discovery {
    guard let name = DestinationName("test") else { throw BrokerGaveUp() }
    return try await ask(
      .discover,
      DiscoverParameters(protocolVersions: versions, destination: name, settings: settings)
    )
  }

  /// The next result.
  nonisolated(nonsending) package func nextResult() async throws -> HandoffResult {
    for await result in results { return result }
    throw BrokerGaveUp()
  }
}

/// The connection ended before what was awaited came.
package struct BrokerGaveUp: Error {
  package init() {}
}

/// What the plugin is answered.
private final class Desk: Sendable {
  struct Known {
    var assets: [LocalIdentifier: ResolvedAsset] = [:]
    var resultRefusal: ResultError?
    var results: [HandoffResult] = []
    var progress: [ProgressParameters] = []
    var takesRenditions = true
    var renditions: [RegisterParameters] = []
  }

  let known = Mutex(Known())
  let arrivals: AsyncStream<HandoffResult>.Continuation

  init(arrivals: AsyncStream<HandoffResult>.Continuation) {
    self.arrivals = arrivals
  }

  func answer(
    _ method: String,
    _ parameters: JSONValue?
  ) throws(RPCMessage.Failure) -> JSONValue {
    do {
      switch MessageMethod(rawValue: method) {
      case .resolveAsset:
        return try resolve(WireCoder.document(ResolveParameters.self, from: parameters))
      case .registerAsset where known.withLock({ $0.takesRenditions }):
        return try register(WireCoder.document(RegisterParameters.self, from: parameters))
      case .result:
        let result = try WireCoder.document(HandoffResult.self, from: parameters)
        let refusal = known.withLock { known in
          known.results.append(result)
          defer { known.resultRefusal = nil }
          return known.resultRefusal
        }
        arrivals.yield(result)
        if let refusal { throw RPCMessage.Failure.refused(refusal) }
        return .object([:])
      case .progress:
        let progress = try WireCoder.document(ProgressParameters.self, from: parameters)
        known.withLock { $0.progress.append(progress) }
        return .object([:])
      case .log:
        return .object([:])
      default:
        throw RPCMessage.Failure.unsupported(method)
      }
    } catch let failure as RPCMessage.Failure {
      throw failure
    } catch {
      throw .invalidParameters("\(error)")
    }
  }

  private func register(_ parameters: RegisterParameters) throws -> JSONValue {
    known.withLock { $0.renditions.append(parameters) }
    guard let none = ContentDigest(hex: String(repeating: "0", count: 64)) else {
      throw BrokerGaveUp()
    }
    return try WireCoder.value(
      RegisteredRendition(name: parameters.name, sha256: none, size: 0)
    )
  }

  private func resolve(_ parameters: ResolveParameters) throws -> JSONValue {
    let identifier = parameters.localIdentifier
    guard let asset = known.withLock({ $0.assets[identifier] }) else {
      throw RPCMessage.Failure.refused(
        ResultError(.assetMissing, "no such asset", effect: .none, localIdentifier: identifier)
      )
    }
    return try WireCoder.value(asset)
  }
}

extension ResolvedAsset {
  /// An asset at a path of any bytes.
  package init(at path: BytePath, sha256: ContentDigest, size: Int64) {
    self.init(
      path: path.lossyText,
      pathBytes: path.base64UnlessText,
      sha256: sha256,
      size: size
    )
  }
}
