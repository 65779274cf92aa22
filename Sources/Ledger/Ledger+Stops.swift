package import HandoffCore
package import HandoffProtocol
import SQLite

/// A destination that wants nothing any more, as its receiver has said.
package struct DestinationStop: Hashable, Sendable {
  package let destination: DestinationName
  /// Where its receiver was when it said so.
  package let address: String
  /// One sentence for a person.
  package let reason: String
  package let stoppedAt: Timestamp
}

extension Ledger {
  /// Stops a destination, and gives back the handoff that it has not taken: that attempt did not count.
  ///
  /// What was stopped stays so over a restart: nothing is claimed or submitted there.
  ///
  /// - Parameters:
  ///   - destination: whose receiver wants nothing any more.
  ///   - address: where it is now.
  ///   - error: what it said; the handoff shows it until its next attempt.
  ///   - id: the handoff that was sent; nothing happens to one that has moved on.
  ///   - attempt: which attempt of it.
  /// - Returns: the handoff as it is now.
  /// - Throws: where the ledger cannot be written.
  package func stop(
    _ destination: DestinationName,
    address: String,
    _ error: ResultError,
    of id: Handoff.ID,
    attempt: Int? = nil
  ) async throws -> Handoff {
    let row = try await write { transaction in
      try transaction.stop(destination, address: address, reason: error.message)
      var row = try transaction.row(id)
      if row.status == .submitted || row.status == .accepted, !row.isPast(attempt) {
        let now = transaction.now
        try transaction.move(&row, .notReceived, detail: error.code.text) { row in
          row.error = HandoffRow.StoredError(error, .receiver)
          row.firstAttemptAt = nil
          row.ceilingAt = nil
          row.comeBack(.init(.paused), now: now)
        }
      }
      return row
    }
    return try Handoff(row)
  }

  /// A person has a destination go on that was paused or stopped; what waits for it is due at once.
  ///
  /// - Parameters:
  ///   - destination: which.
  ///   - user: who asked, as far as that is known.
  /// - Returns: false where it was neither.
  /// - Throws: where the ledger cannot be written.
  package func resume(_ destination: DestinationName, by user: UInt32? = nil) async throws -> Bool {
    try await write { transaction in
      let wasPaused = try transaction.endPause(destination.text)
      return try transaction.resume(destination, wasPaused: wasPaused, by: user)
    }
  }

  /// Lifts the stops of destinations that are elsewhere now, or are not configured any more.
  ///
  /// - Parameter addresses: where the configured receivers are.
  /// - Returns: whose stops were lifted.
  /// - Throws: where the ledger cannot be written.
  @discardableResult
  package func liftStops(
    addresses: [DestinationName: String]
  ) async throws -> [DestinationName] {
    try await write { transaction in
      let stops = try transaction.connection.rows(StopQueries.all, [], DestinationStop.init)
      let moved = stops.filter { addresses[$0.destination] != $0.address }.map(\.destination)
      for destination in moved { _ = try transaction.resume(destination, wasPaused: false) }
      return moved
    }
  }
}

extension LedgerReading {
  /// The destinations that are stopped.
  package func stops() async throws -> [DestinationStop] {
    try await readings.queue.read { connection in
      try connection.rows(StopQueries.all, [], DestinationStop.init)
    }
  }

  /// Why a destination is stopped; nil where it is not.
  package func stop(of destination: DestinationName) async throws -> DestinationStop? {
    try await readings.queue.read { connection in
      try connection.first(StopQueries.one, [.text(destination.text)], DestinationStop.init)
    }
  }
}

extension LedgerTransaction {
  fileprivate func stop(
    _ destination: DestinationName,
    address: String,
    reason: String
  ) throws {
    let written = try connection.run(
      StopQueries.insert,
      [.text(destination.text), .text(address), .text(reason), .integer(now)]
    )
    // Several of its handoffs may hear it at one time.
    guard written > 0 else { return }
    try record(Event(at: now, kind: "stopped", destination: destination.text, detail: reason))
  }

  fileprivate func resume(
    _ destination: DestinationName,
    wasPaused: Bool,
    by user: UInt32? = nil
  ) throws -> Bool {
    let written = try connection.run(StopQueries.delete, [.text(destination.text)])
    guard written > 0 || wasPaused else { return false }
    let detail = user.map { "uid \($0)" }
    try record(Event(at: now, kind: "resumed", destination: destination.text, detail: detail))
    _ = try endWaiting(.paused, destination)
    touch(destination.text)
    return true
  }
}

extension DestinationStop {
  fileprivate init(_ row: borrowing Row) throws {
    let name = try row.text(0)
    guard let destination = DestinationName(name) else {
      throw UnreadableRow(id: 0, column: "destination")
    }
    self.destination = destination
    address = try row.text(1)
    reason = try row.text(2)
    stoppedAt = Timestamp(milliseconds: try row.integer(3))
  }
}

private enum StopQueries {
  static let columns = "destination, address, reason, stopped_at"
  static let all = SQL("SELECT \(columns) FROM destination_stops ORDER BY destination")
  static let one = SQL("SELECT \(columns) FROM destination_stops WHERE destination = ?1")
  static let insert = SQL(
    """
    INSERT INTO destination_stops (\(columns)) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (destination) DO NOTHING
    """
  )
  static let delete = SQL("DELETE FROM destination_stops WHERE destination = ?1")
}
