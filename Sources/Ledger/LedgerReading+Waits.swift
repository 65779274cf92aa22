package import HandoffCore
package import HandoffProtocol
import SQLite

/// What the ledger knows of why handoffs wait at one destination, besides what each row says.
package struct DestinationWaits: Hashable, Sendable {
  /// A person's pause.
  package var pause: DestinationPause?
  /// Its receiver wants nothing any more.
  package var isGone = false
  /// In force.
  package var rules = DestinationRules()
  /// When the next place of its quota is free; nil where one is.
  package var quotaFreeAt: Timestamp?

  package init() {}

  /// Nothing may be submitted there until a person says so.
  package var isStopped: Bool { pause != nil || isGone }
}

extension LedgerReading {
  /// The destinations at which something is to be said.
  ///
  /// - Parameter now: the present moment.
  /// - Returns: what is to be said, by destination.
  /// - Throws: ``SQLiteError``, as every reading does.
  package func destinationWaits(at now: Timestamp) async throws -> [DestinationName:
    DestinationWaits]
  {
    try await readings.queue.read { connection in
      var waits: [DestinationName: DestinationWaits] = [:]
      for (text, rules) in try DestinationRules.read(connection) {
        guard let name = DestinationName(text) else { continue }
        waits[name, default: .init()].rules = rules
        let free = try rules.quota?.nextFree(text, now: now.milliseconds, connection)
        waits[name, default: .init()].quotaFreeAt = free.map(Timestamp.init(milliseconds:))
      }
      for pause in try connection.rows(PauseQueries.all, [], DestinationPause.init) {
        waits[pause.destination, default: .init()].pause = pause
      }
      for text in try connection.rows(WaitQueries.gone, [], { row in try row.text(0) }) {
        guard let name = DestinationName(text) else { continue }
        waits[name, default: .init()].isGone = true
      }
      return waits
    }
  }

  /// When its sender wants a handoff published; nil where no moment was given.
  package func publishMoment(of id: Handoff.ID) async throws -> Timestamp? {
    try await readings.queue.read { connection in
      try HandoffRow.publishMoment(of: id.row, connection)
    }
  }

  /// When the next handoff of a destination is due, perhaps in the past; nil where none waits for a
  /// moment, or the destination is paused or stopped.
  ///
  /// - Parameters:
  ///   - destination: whose.
  ///   - now: the present moment: handoffs that can only be expired by then are nobody's to claim, and a
  ///     quota counts from it; nil for no regard to either.
  /// - Returns: the moment.
  /// - Throws: ``SQLiteError``, as every reading does.
  package func nextDue(
    destination: DestinationName,
    at now: Timestamp? = nil
  ) async throws -> Timestamp? {
    try await readings.queue.read { connection in
      let name = Value.text(destination.text)
      if try connection.first(PauseQueries.isStopped, [name], { _ in true }) != nil { return nil }
      let due = try connection.rows(
        WaitQueries.nextDue,
        [name, .integer(now?.milliseconds ?? 0)]
      ) { row in try row.integer(0) }.min()
      guard var due else { return nil }
      if let now, let quota = try DestinationRules.read(connection)[destination.text]?.quota,
        let free = try quota.nextFree(destination.text, now: now.milliseconds, connection)
      {
        due = max(due, free)
      }
      return Timestamp(milliseconds: due)
    }
  }
}

private enum WaitQueries {
  static let gone = SQL("SELECT destination FROM destination_stops")
  static let nextDue = SQL(
    """
    SELECT due_at FROM (SELECT due_at FROM handoffs WHERE status = 'pending' AND destination = ?1
      AND priority = 0 AND due_at IS NOT NULL AND (expires_at IS NULL OR expires_at > max (due_at, ?2))
      ORDER BY due_at LIMIT 1)
    UNION ALL
    SELECT due_at FROM (SELECT due_at FROM handoffs WHERE status = 'pending' AND destination = ?1
      AND priority = 1 AND due_at IS NOT NULL AND (expires_at IS NULL OR expires_at > max (due_at, ?2))
      ORDER BY due_at LIMIT 1)
    """
  )
}
