import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService

/// `handoff retry --failed`: many at once, in parts that hold nobody up.
enum RetryFailedCommand {
  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    guard arguments.operands.isEmpty else {
      throw CommandFailure(.usage, "handoff retry: either --failed or one handoff or file")
    }
    let configuration = try ConfigurationFile.load(arguments)
    var asked = RetryFailedParameters(
      destination: arguments.text("destination"),
      dryRun: arguments.has("dry-run")
    )
    var report = BulkRetryReport(dryRun: asked.dryRun)
    repeat {
      let part = try await BrokerConnection.ask(
        configuration,
        .retryFailed,
        asked,
        as: BulkRetryReport.self
      )
      report.retried += part.retried
      report.leftOut += part.leftOut
      asked.after = part.next
    } while asked.after != nil
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      for id in report.retried { Terminal.out(id) }
      Terminal.table(
        ["LEFT OUT", "DESTINATION", "STATUS", "REASON"],
        report.leftOut.map { [$0.id, $0.destination.text, $0.status.rawValue, $0.reason] }
      )
      let verb = report.dryRun ? "would be tried" : "are tried"
      Terminal.error("\(report.retried.count) \(verb) again, \(report.leftOut.count) left out")
    }
    return .done
  }
}
