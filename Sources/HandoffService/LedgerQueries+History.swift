package import HandoffControl
package import HandoffCore
package import HandoffProtocol
import Ledger

extension LedgerQueries {
  /// What happened to a handoff, in order; none where there is no such handoff.
  package func history(of id: Handoff.ID) async throws -> [EventReport] {
    try await ledger?.history(of: id).map(EventReport.init) ?? []
  }

  /// What happened to an asset and its handoffs, in order; none where there is no such asset.
  package func history(of identifier: LocalIdentifier) async throws -> [EventReport] {
    try await ledger?.history(of: identifier).map(EventReport.init) ?? []
  }
}

extension EventReport {
  fileprivate init(_ event: LedgerEvent) {
    self.init(sequence: event.sequence, at: event.at, event: event.kind)
    handoffID = event.handoff?.description
    localIdentifier = event.asset
    destination = event.destination
    from = event.from?.rawValue
    to = event.to?.rawValue
    attempt = event.attempt
    detail = event.detail
  }
}
