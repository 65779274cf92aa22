package import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

extension LedgerQueries {
  /// Verifies the chain of events and what the tables say beside it, whether or not a broker runs.
  ///
  /// - Parameter progress: told how many rows of how many were looked at; must not block.
  /// - Returns: what was found; nil where the ledger's key cannot be read, so that nothing can be proven.
  /// - Throws: ``ControlError`` where there is no ledger; what the ledger says where it cannot be read.
  package func audit(
    _ progress: @Sendable (_ done: Int64, _ total: Int64) -> Void
  ) async throws -> AuditReport? {
    guard let ledger else { throw ControlError(.notFound, "there is no ledger to audit") }
    guard let audit = try await ledger.audit({ progress($0.done, $0.total) }) else { return nil }
    return AuditReport(
      events: audit.events,
      lastSequence: audit.lastSequence,
      prunedEvents: audit.prunedEvents,
      prunedRanges: audit.prunedRanges,
      unprovenEvents: audit.unprovenEvents,
      handoffs: audit.handoffs,
      assets: audit.assets,
      findings: audit.findings.map { finding in
        var report = AuditReport.Finding(kind: finding.kind.rawValue, message: finding.text)
        report.first = finding.first
        report.last = finding.last
        report.handoffID = finding.handoff?.description
        report.localIdentifier = finding.asset
        return report
      },
      findingCount: audit.findingCount
    )
  }
}
