package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Says what destinations wait for from now on, and looks at everything that is pending.
  ///
  /// To be called at the start and whenever the configuration changes. What waits for a destination that
  /// it need not wait for any more goes on; what has to wait now, waits. Without a handoff that it could
  /// wait for it is not ended for that, since it was ordered under another configuration: it waits for
  /// one. Nothing that is claimed or sent is touched.
  ///
  /// - Parameter order: as the configuration has it.
  /// - Throws: where the ledger cannot be written; what was not looked at yet is looked at before it is
  ///   claimed.
  package func reconsiderAfter(_ order: HandingOrder) async throws {
    handingOrder.set(order)
    var last: Int64? = 0
    while let after = last {
      last = try await write { transaction in try transaction.reconsiderPending(after: after) }
    }
  }

  /// Why an order would not be made for what it is ordered after, or that it would wait; changes nothing.
  ///
  /// - Parameters:
  ///   - order: the order.
  ///   - planned: destinations to which the same assets are about to be ordered.
  /// - Returns: true where it would wait.
  /// - Throws: ``LedgerError/dependency(_:)``; what ``create(_:again:)`` throws for its assets.
  package func waitsForOthers(
    _ order: HandoffOrder,
    planned: [DestinationName] = []
  ) async throws -> Bool {
    guard let rule = handingOrder.current.rules[order.destination] else { return false }
    return try await readings.queue.read { connection in
      let checks = OrderChecks(connection: connection)
      return try checks.waits(order, rule, planned: Set(planned))
    }
  }
}

extension OrderChecks {
  /// True where an order has to wait for others.
  ///
  /// - Throws: ``LedgerError/dependency(_:)`` where it would wait in vain.
  func waits(
    _ order: HandoffOrder,
    _ rule: HandingOrder.Rule,
    planned: Set<DestinationName> = []
  ) throws -> Bool {
    let members = try zip(presentAssets(order.localIdentifiers), order.localIdentifiers).map {
      DependencyCheck.Member(row: $0, name: $1.text)
    }
    let check = DependencyCheck(connection: connection, rule: rule)
    switch try check.standing(of: members, handoff: nil, planned: planned) {
    case .met: return false
    case .open: return true
    case .absent(let error), .failed(let error): throw LedgerError.dependency(error)
    }
  }
}

extension LedgerTransaction {
  /// Looks at pending handoffs behind a row; returns the last of them, nil where there are no more.
  fileprivate func reconsiderPending(after last: Int64) throws -> Int64? {
    let rows = try connection.rows(DependencyQueries.pending, [.integer(last)]) { row in
      try HandoffRow(row)
    }
    for var row in rows {
      let isWaiting = row.waitingReason == WaitingReason.after.rawValue
      if isWaiting {
        try reconsider(row.id, failsAbsent: false)
      } else if row.waitingReason != WaitingReason.superseded.rawValue,
        rule(of: row.destination) != nil
      {
        // One whose predecessor has failed ends as it is claimed.
        if case .open = try dependency(of: row) {
          row.wait(.init(.after), now: now)
          try save(row, from: .pending)
          touch(row.destination)
        }
      }
    }
    return rows.last?.id
  }
}
