import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Paths

extension Command {
  /// Says what would become of each handoff; the exit code is that of a refusal where one would be.
  static func dryRun(
    _ documents: [SendParameters],
    _ arguments: ParsedArguments,
    _ configuration: Configuration
  ) async throws -> ExitCode {
    var reports: [DryRunReport] = []
    for document in documents {
      reports.append(
        try await BrokerConnection.ask(configuration, .dryRun, document, as: DryRunReport.self)
      )
    }
    if arguments.has("json") { try Terminal.json(reports) }
    for report in reports { tell(report, alsoGood: !arguments.has("json")) }
    return reports.contains { $0.verdict == .refused } ? .refused : .done
  }

  private static func tell(_ report: DryRunReport, alsoGood: Bool) {
    let name = report.destination.text
    if let error = report.error {
      let side = error.side == .receiver ? "the receiver" : "the sender's checks"
      let asset = error.localIdentifier.map { " (\($0))" } ?? ""
      Terminal.error(
        "\(name): refused by \(side): \(error.code): \(BytePath(error.message).displayText)\(asset)"
      )
    }
    guard alsoGood else { return }
    if let waiting = report.waiting {
      Terminal.out("\(name): would wait: \(waiting.reason.rawValue)")
    }
    if report.verdict == .accepted {
      let version = report.protocolVersion.map { " (protocol version \($0))" } ?? ""
      Terminal.out(
        report.preflight == .answered
          ? "\(name): would be taken\(version)"
          : "\(name): passes the sender's checks\(version)"
      )
    }
    for change in report.changes {
      Terminal.out("\(name): would change: \(BytePath(change).displayText)")
    }
    if let note = report.note { Terminal.out("\(name): \(BytePath(note).displayText)") }
    if report.verdict != .refused { Terminal.out("\(name): nothing was submitted") }
  }
}
