import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

extension ControlQuestions {
  /// Has failed handoffs tried again that have certainly done nothing: a part of them, and where the next
  /// part begins.
  ///
  /// - Throws: ``ControlError``, with `not_found` for a destination that is not configured.
  func retryFailed(_ asked: RetryFailedParameters) async throws -> BulkRetryReport {
    var destination: DestinationName?
    if let text = asked.destination {
      guard let name = DestinationName(text), configuration.destination(name) != nil else {
        throw ControlError(.notFound, "there is no destination \(text)")
      }
      destination = name
    }
    let looked = try await ledger.retryFailed(
      to: destination,
      configured: Set(configuration.destinations.map(\.name)),
      after: asked.after.flatMap { Handoff.ID($0) },
      isDryRun: asked.dryRun
    )
    var report = BulkRetryReport(dryRun: asked.dryRun)
    for entry in looked {
      let id = entry.handoff.id.description
      if let reason = entry.leftOut {
        report.leftOut.append(
          BulkRetryReport.LeftOut(
            id: id,
            destination: entry.handoff.destination,
            status: entry.handoff.status,
            reason: reason
          )
        )
      } else {
        report.retried.append(id)
        if !asked.dryRun { await results.follow(entry.handoff) }
      }
    }
    report.next = looked.last?.handoff.id.description
    return report
  }
}
