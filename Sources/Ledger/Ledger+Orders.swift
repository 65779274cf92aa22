package import HandoffCore

extension Ledger {
  /// Makes a handoff, or finds the one with the same idempotency key and body.
  ///
  /// - Parameters:
  ///   - order: what the sender asks for.
  ///   - again: make it also where one of the assets has a handoff to the destination that has
  ///     succeeded or may still.
  /// - Returns: the handoff, and whether it is new.
  /// - Throws: ``LedgerError`` for a reused key, an unknown or deleted asset, a request that would
  ///   be too large, or a pair that has succeeded or may still.
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
      if !again, let standing = try transaction.standing(assets, order.destination) {
        throw LedgerError.alreadySucceeded(standing.handoffID, standing.status)
      }
      return (try transaction.insert(prepared, assets: assets), true)
    }
    return (try Handoff(row), isNew)
  }
}
