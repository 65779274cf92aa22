import HandoffProtocol
import SQLite

/// A place in the chain of events: enough to tell whether a ledger has come that far, and nothing more.
package struct LedgerPosition: Hashable, Codable, Sendable {
  /// The event's number; 0 before the first.
  package let event: Int64
  /// Its code in the chain, in hexadecimal digits.
  package let code: String

  package init(event: Int64, code: String) {
    self.event = event
    self.code = code
  }

  init(_ head: ChainHead) {
    self.init(event: head.sequence, code: head.code.hexDigits)
  }
}

extension LedgerReading {
  /// Where the chain of events ends now; all of it is on the disk.
  package func position() async throws -> LedgerPosition {
    try await readings.queue.read { connection in
      LedgerPosition(try OpenedLedger.lastEvent(connection) ?? .start)
    }
  }

  /// Whether this ledger was ever at a place: false for one that is older, or another one.
  ///
  /// A place from which the events were pruned counts as passed.
  package func hasPassed(_ position: LedgerPosition) async throws -> Bool {
    guard position.event > 0 else { return true }
    return try await readings.queue.read { connection in
      let code = try connection.first(PositionQueries.code, [.integer(position.event)]) { row in
        try row.blob(0)
      }
      if let code { return code.hexDigits == position.code }
      guard try connection.schemaVersion() >= Schema.pruningVersion,
        let range = try PrunedRange.covering(position.event, in: connection)
      else { return false }
      return range.last != position.event || range.after.hexDigits == position.code
    }
  }
}

private enum PositionQueries {
  static let code = SQL("SELECT mac FROM events WHERE seq = ?1")
}
