package import HandoffCore
import HandoffProtocol
import SQLite

extension Ledger {
  /// Makes a handoff, or finds the one with the same idempotency key and body.
  ///
  /// - Parameters:
  ///   - order: what the sender asks for.
  ///   - again: make it also where one of the assets has a handoff to the destination that has
  ///     succeeded or may still.
  /// - Returns: the handoff, and whether it is new.
  /// - Throws: ``LedgerError`` for a reused key, an unknown or deleted asset, a request that would
  ///   be too large, a pair that has succeeded or may still, or one that would wait in vain for what it is
  ///   ordered after.
  package func create(
    _ order: HandoffOrder,
    again: Bool = false
  ) async throws -> (handoff: Handoff, isNew: Bool) {
    let prepared = try PreparedOrder(order)
    let (row, isNew) = try await write { transaction in
      if let existing = try transaction.orderChecks.earlier(prepared, again: again) {
        return (existing, false)
      }
      let assets = try transaction.presentAssets(order.localIdentifiers)
      if let rule = transaction.rule(of: order.destination.text) {
        _ = try transaction.orderChecks.waits(order, rule)
      }
      let row = try transaction.insert(prepared, assets: assets)
      try transaction.settleDependencies()
      return (try transaction.row(row.handoffID), true)
    }
    return (try Handoff(row), isNew)
  }
}

extension LedgerReading {
  /// The handoff that was made with an order's idempotency key and body; nil where there is none.
  ///
  /// - Throws: ``LedgerError/keyReused(_:)`` where the body was another, and what the order itself is
  ///   refused for.
  package func handoff(sameAs order: HandoffOrder) async throws -> Handoff? {
    let prepared = try PreparedOrder(order)
    let row = try await readings.queue.read { connection in
      let checks = OrderChecks(connection: connection)
      return try checks.handoff(sameAs: prepared).flatMap { try checks.row($0) }
    }
    return try row.map { try Handoff($0) }
  }

  /// Makes the checks of ``Ledger/create(_:again:)`` and changes nothing.
  ///
  /// - Returns: the handoff that the order would be answered with; nil where a new one would be made.
  /// - Throws: as ``Ledger/create(_:again:)``.
  package func earlier(_ order: HandoffOrder, again: Bool) async throws -> Handoff? {
    let prepared = try PreparedOrder(order)
    let row = try await readings.queue.read { connection in
      try OrderChecks(connection: connection).earlier(prepared, again: again)
    }
    return try row.map { try Handoff($0) }
  }
}
