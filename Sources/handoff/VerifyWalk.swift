import Glibc
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import LinuxSystem
import Paths
import Synchronization

/// `handoff destinations verify`: has a receiver look again at its handoffs, one after the other.
///
/// First those that were never looked at, then the others, the longest ago first: so a walk that was broken
/// off goes on where it stopped, and one with a limit comes round in time.
struct VerifyWalk {
  private let configuration: Configuration
  private let destination: DestinationName
  private let since: Timestamp?
  private let limit: Int?
  private let asset: LocalIdentifier?
  private let isJSON: Bool

  init(_ configuration: Configuration, _ arguments: ParsedArguments) throws {
    self.configuration = configuration
    guard arguments.operands.count > 1 else {
      throw CommandFailure(.usage, "handoff destinations verify: which destination?")
    }
    let name = arguments.operands[1]
    guard let destination = DestinationName(name.lossyText),
      configuration.destination(destination) != nil
    else {
      throw CommandFailure(
        .notFound,
        "handoff destinations verify: there is no destination \(name.displayText)"
      )
    }
    self.destination = destination
    since = try arguments.read("since", as: "a time as 2026-12-24T18:30:00Z") {
      Timestamp(rfc3339: $0)
    }
    limit = try arguments.read("limit", as: "a count") { text in
      Int(text).flatMap { $0 > 0 ? $0 : nil }
    }
    asset = try arguments.read("asset", as: "a local identifier") { LocalIdentifier($0) }
    isJSON = arguments.has("json")
  }

  func run() async throws -> ExitCode {
    try await requireVerifier()
    let due = try await LedgerQueries.open(configuration).verifiable(
      at: destination,
      since: since,
      asset: asset,
      limit: limit
    )
    // One signal ends the walk: what was found until then is told, and was recorded.
    let signals = try SignalSequence([SIGINT, SIGTERM])
    let found = Found()
    let problem = await withTaskGroup(of: (any Error)?.self) { group in
      group.addTask {
        do {
          try await walk(due, found)
          return nil
        } catch {
          return error
        }
      }
      group.addTask {
        var iterator = signals.makeAsyncIterator()
        return await iterator.next() == nil ? nil : CancellationError()
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    try show(found.reports, of: due.count)
    switch problem {
    case nil: return Self.exitCode(found.reports)
    case is CancellationError: return .cancelled
    case let problem?: throw problem
    }
  }

  private func walk(_ due: [(id: Handoff.ID, bytes: Int64)], _ found: Found) async throws {
    var bar = ProgressBar("verify")
    defer { bar.end() }
    let total = due.map(\.bytes).reduce(0, +)
    var read: Int64 = 0
    for (number, handoff) in due.enumerated() {
      bar.show(number, of: due.count, bytes: read, ofBytes: total)
      do {
        let report = try await BrokerConnection.ask(
          configuration,
          .verify,
          WaitParameters(handoffID: handoff.id.description),
          as: VerificationReport.self
        )
        found.add(report)
        if ![.intact, .present].contains(report.standing) {
          bar.end()
          Self.name(report)
        }
      } catch let failure as CommandFailure where failure.code == .notFound {
        // It was pruned since the list was made.
      } catch let failure as CommandFailure where failure.code == .failed {
        // One that cannot be looked at keeps no other from it.
        bar.end()
        Terminal.error("\(handoff.id): \(failure.message)")
        found.add(unanswered(handoff.id, handoff.bytes, failure.message))
      }
      read += handoff.bytes
      bar.show(number + 1, of: due.count, bytes: read, ofBytes: total)
    }
  }

  /// The receiver said nothing of it: that is recorded as `unknown`.
  private func unanswered(
    _ id: Handoff.ID,
    _ bytes: Int64,
    _ reason: String
  ) -> VerificationReport {
    var report = VerificationReport(
      handoffID: id.description,
      destination: destination,
      title: nil,
      at: SystemClock.now(),
      standing: .unknown,
      bytes: bytes,
      assets: []
    )
    report.error = reason
    return report
  }

  /// Says at once where the destination cannot do this at all.
  private func requireVerifier() async throws {
    let destinations = try await BrokerConnection.ask(
      configuration,
      .destinations,
      [String: String](),
      as: [DestinationReport].self
    )
    guard let report = destinations.first(where: { $0.name == destination }) else {
      throw CommandFailure(
        .notFound,
        "handoff: the running broker has no destination \(destination); `handoff reload` applies the file"
      )
    }
    guard report.transport == "plugin" else {
      throw CommandFailure(
        .refused,
        "handoff: \(destination) is of transport \(report.transport), whose receivers cannot be asked again"
      )
    }
    guard let plugin = report.plugin else {
      let reason = report.detail.map { ": \(BytePath($0).displayText)" } ?? ""
      throw CommandFailure(.unavailable, "handoff: \(destination) does not run now\(reason)")
    }
    guard plugin.capabilities.contains("verify") else {
      let name = BytePath("\(plugin.name) \(plugin.version)").displayText
      throw CommandFailure(
        .refused,
        "handoff: \(destination): its plugin (\(name)) cannot look again at what it has done"
      )
    }
  }

  // MARK: What was found

  private static func name(_ report: VerificationReport) {
    for asset in report.assets where ![.intact, .present].contains(asset.standing) {
      let words = [asset.location, asset.message].compactMap(\.self).joined(separator: ": ")
      let title = report.title.map { " (\(BytePath($0).displayText))" } ?? ""
      Terminal.error(
        "\(asset.standing.rawValue): \(report.handoffID) \(asset.localIdentifier)\(title) "
          + BytePath(words).displayText
      )
    }
  }

  private func show(_ reports: [VerificationReport], of count: Int) throws {
    if isJSON { try Terminal.json(reports) }
    let counts = [VerifiedAsset.Standing.intact, .present, .damaged, .missing, .unknown]
      .map { standing in "\(reports.count { $0.standing == standing }) \(standing.rawValue)" }
    Terminal.error(
      "\(reports.count) of \(count) handoffs looked at again: " + counts.joined(separator: ", ")
    )
  }

  /// What is gone or spoilt is a failure; what could not be looked at needs a person.
  private static func exitCode(_ reports: [VerificationReport]) -> ExitCode {
    if reports.contains(where: { [.damaged, .missing].contains($0.standing) }) { return .failed }
    return reports.contains { $0.standing == .unknown } ? .personNeeded : .done
  }

  /// What was found so far, while the walk goes on.
  private final class Found: Sendable {
    private let kept = Mutex<[VerificationReport]>([])

    var reports: [VerificationReport] { kept.withLock(\.self) }

    func add(_ report: VerificationReport) { kept.withLock { $0.append(report) } }
  }
}

extension ParsedArguments {
  /// The value of an option; nil where it was not given.
  ///
  /// - Throws: ``CommandFailure`` where it is not what it should be.
  func read<Value>(
    _ option: String,
    as kind: String,
    _ parse: (String) -> Value?
  ) throws -> Value? {
    guard let text = text(option) else { return nil }
    guard let value = parse(text) else {
      throw CommandFailure(.usage, "--\(option) \(text): not \(kind)")
    }
    return value
  }
}
