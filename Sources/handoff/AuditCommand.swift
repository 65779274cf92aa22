import HandoffControl
import HandoffService
import Paths
import Synchronization

extension Command {
  /// Verifies the record of what happened, straight from the ledger.
  static let audit = Command(
    "audit",
    "",
    "verify the chain of events, and that the ledger's tables say what it says",
    examples: ["handoff audit", "handoff audit --json"]
  ) { arguments in
    let queries = try await LedgerQueries.open(ConfigurationFile.load(arguments))
    let bar = Mutex(ProgressBar("audit"))
    let report: AuditReport?
    do {
      report = try await queries.audit { done, total in
        bar.withLock { $0.show(Int(done), of: Int(total), bytes: 0, ofBytes: 0) }
      }
      bar.withLock { $0.end() }
    } catch let error as ControlError {
      throw BrokerConnection.failure(error)
    }
    guard let report else {
      throw CommandFailure(
        .failed,
        "handoff audit: the ledger's key cannot be read, so nothing can be proven"
      )
    }
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      for finding in report.findings { Terminal.out(BytePath(finding.message).displayText) }
      let counted = report.findingCount == 1 ? "1 finding" : "\(report.findingCount) findings"
      let pruned = report.prunedEvents > 0 ? ", and \(report.prunedEvents) pruned ones" : ""
      Terminal.error(
        "\(report.events) events\(pruned), \(report.handoffs) handoffs, \(report.assets) assets: "
          + (report.intact ? "intact" : counted)
      )
      if report.unprovenEvents > 0 {
        Terminal.error(
          "\(report.unprovenEvents) earlier events cannot be proven: their key was lost when the ledger was restored"
        )
      }
    }
    return report.intact ? .done : .failed
  }
}
