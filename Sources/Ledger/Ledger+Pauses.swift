import HandoffCore
package import HandoffProtocol
import SQLite

/// A destination that a person has paused: nothing is submitted to it until it is resumed.
package struct DestinationPause: Hashable, Sendable {
  package let destination: DestinationName
  package let pausedAt: Timestamp
  /// The user id; nil where the kernel did not tell it.
  package let pausedBy: UInt32?
}

extension Ledger {
  /// Pauses a destination: from the return on nothing new is submitted to it, also over restarts.
  ///
  /// What was submitted before goes on. A claim that has not been submitted is given back at its
  /// submission. ``resume(_:by:)`` ends it.
  ///
  /// - Parameters:
  ///   - destination: which.
  ///   - user: who asked, as far as that is known.
  /// - Returns: false where it was paused already.
  /// - Throws: where the ledger cannot be written.
  package func pause(_ destination: DestinationName, by user: UInt32?) async throws -> Bool {
    try await write { transaction in
      let now = transaction.now
      let written = try transaction.connection.run(
        PauseQueries.insert,
        [.text(destination.text), .integer(now), .optional(user.map { Int64($0) })]
      )
      guard written > 0 else { return false }
      let detail = user.map { "uid \($0)" }
      try transaction.record(
        Event(at: now, kind: "paused", destination: destination.text, detail: detail)
      )
      transaction.touch(destination.text)
      return true
    }
  }
}

extension LedgerReading {
  /// The destinations that people have paused.
  package func pauses() async throws -> [DestinationPause] {
    try await readings.queue.read { connection in
      try connection.rows(PauseQueries.all, [], DestinationPause.init)
    }
  }
}

extension LedgerTransaction {
  /// Nothing may be submitted to a destination: a person has paused it, or its receiver wants nothing.
  func isStopped(_ destination: String) throws -> Bool {
    try connection.first(PauseQueries.isStopped, [.text(destination)]) { _ in true } ?? false
  }

  /// Ends a person's pause; false where there was none.
  func endPause(_ destination: String) throws -> Bool {
    try connection.run(PauseQueries.delete, [.text(destination)]) > 0
  }
}

extension DestinationPause {
  init(_ row: borrowing Row) throws {
    guard let destination = DestinationName(try row.text(0)) else {
      throw UnreadableRow(id: 0, column: "destination")
    }
    self.destination = destination
    pausedAt = Timestamp(milliseconds: try row.integer(1))
    pausedBy = try row.optionalInteger(2).flatMap { UInt32(exactly: $0) }
  }
}

enum PauseQueries {
  static let all = SQL(
    "SELECT destination, paused_at, paused_by FROM destination_pauses ORDER BY destination"
  )
  static let insert = SQL(
    """
    INSERT INTO destination_pauses (destination, paused_at, paused_by) VALUES (?1, ?2, ?3)
    ON CONFLICT (destination) DO NOTHING
    """
  )
  static let delete = SQL("DELETE FROM destination_pauses WHERE destination = ?1")
  static let isStopped = SQL(
    """
    SELECT 1 FROM destination_pauses WHERE destination = ?1
    UNION ALL SELECT 1 FROM destination_stops WHERE destination = ?1 LIMIT 1
    """
  )
}
