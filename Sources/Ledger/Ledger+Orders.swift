package import HandoffCore

extension Ledger {
  /// Makes a handoff, or finds the one with the same idempotency key and body.
  ///
  /// - Parameters:
  ///   - order: what the sender asks for.
  ///   - again: make it also where one of the assets was handed off to the destination with success.
  /// - Returns: the handoff, and whether it is new.
  /// - Throws: ``LedgerError`` for a reused key, an unknown or deleted asset, or a pair that has
  ///   succeeded.
  package func create(
    _ order: HandoffOrder,
    again: Bool = false
  ) async throws -> (handoff: Handoff, isNew: Bool) {
    let prepared = try PreparedOrder(order)
    let (row, isNew) = try await write { transaction in
      if let existing = try transaction.handoff(sameAs: prepared) {
        return (try transaction.row(Handoff.ID(row: existing)), false)
      }
      let assets = try transaction.presentAssets(order.localIdentifiers)
      if !again { try transaction.checkNotSucceeded(assets, order.destination) }
      return (try transaction.insert(prepared, assets: assets), true)
    }
    return (try Handoff(row), isNew)
  }
}
