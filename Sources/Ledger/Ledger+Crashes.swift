package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Puts the crash of a plugin down to what it had in hand: what it was sent in this life, or, where
  /// that is nothing, all that it holds.
  ///
  /// It comes back later each time, one suspect after another, and is given up in the end; see
  /// `crash_limit`.
  ///
  /// - Parameters:
  ///   - destination: whose plugin has crashed.
  ///   - start: when the life began that crashed.
  /// - Returns: what nobody is asked about any more: its outcome is unknown.
  /// - Throws: where the ledger cannot be written.
  package func recordReceiverCrash(
    _ destination: DestinationName,
    since start: Timestamp
  ) async throws -> [Handoff] {
    let rows = try await write { transaction in
      let held = try transaction.connection.rows(
        CrashQueries.held,
        [.text(destination.text)]
      ) { row in try HandoffRow(row) }
      let sent = held.filter { $0.submittedAt ?? 0 >= start.milliseconds }
      var givenUp: [HandoffRow] = []
      for var row in sent.isEmpty ? held : sent {
        try transaction.blame(row, "receiver_crashed")
        guard transaction.isBeyondAsking(row.id) else { continue }
        try transaction.giveUpAsking(&row)
        givenUp.append(row)
      }
      return givenUp
    }
    return try rows.map { try Handoff($0) }
  }

  /// From now on so many crashes are too many; 0 for never.
  package func setCrashLimit(_ limit: Int) async throws {
    try await write { transaction in transaction.crashLimit = limit }
  }
}

extension LedgerReading {
  /// Failed handoffs that were given up since something crashed with them, the newest first.
  package func givenUp(limit: Int) async throws -> [Handoff] {
    let rows = try await readings.queue.read { connection in
      try connection.rows(CrashQueries.givenUp, [.integer(Int64(limit))]) { row in
        try HandoffRow(row)
      }
    }
    return try rows.map { try Handoff($0) }
  }
}

extension LedgerTransaction {
  /// Begins a life of the broker, and says where the one before it began if that one has crashed.
  ///
  /// The end of the whole machine is nobody's crash.
  func beginLife() throws -> Int64? {
    let boot = bootClock?.boot ?? ""
    let note = try connection.first(CrashQueries.readNote, [.text(Self.lifeName)]) { row in
      try row.text(0)
    }
    let text = Value.text("\(nextSequence) \(boot)")
    try connection.run(CrashQueries.setNote, [.text(Self.lifeName), text])
    isAlive = true
    let words = note?.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false) ?? []
    guard words.count == 2, words[1] == boot else { return nil }
    return Int64(words[0])
  }

  /// The broker ends as it should.
  func endLife() throws {
    guard isAlive else { return }
    try connection.run(CrashQueries.clearNote, [.text(Self.lifeName)])
  }

  /// Puts the crash of the life before this one down to what it had claimed and not brought to an end;
  /// where that is nothing, to what it had in flight from before.
  func blameBroker(forLifeFrom start: Int64) throws {
    let rows = try connection.rows(CrashQueries.inFlight) { row in try HandoffRow(row) }
    let claimed = rows.filter { $0.leaseID >= start }
    for row in claimed.isEmpty ? rows : claimed { try blame(row, "broker_crashed") }
  }

  private static let lifeName = "life"
}

private enum CrashQueries {
  static let held = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE destination = ?1
      AND status IN ('submitted', 'accepted') AND finished_at IS NULL AND status <> 'pending'
    ORDER BY id
    """
  )
  static let inFlight = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs
    WHERE status IN ('leased', 'submitted', 'accepted') AND finished_at IS NULL
      AND status <> 'pending'
    ORDER BY id
    """
  )
  static let givenUp = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE status = 'failed' AND id IN (
      SELECT handoff FROM suspects WHERE given_up_at IS NOT NULL)
    ORDER BY id DESC LIMIT ?1
    """
  )
  static let readNote = SQL("SELECT value FROM meta WHERE name = ?1")
  static let setNote = SQL(
    "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2"
  )
  static let clearNote = SQL("DELETE FROM meta WHERE name = ?1")
}
