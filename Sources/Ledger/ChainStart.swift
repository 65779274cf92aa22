import SQLite

/// From where on the chain of events can be proven with the present key.
///
/// That is the first event, but where a restored ledger's key was lost: then it goes on under a new key, with
/// an event that says so. Its code covers the code of the event before it, which nothing else vouches for.
enum ChainStart {
  /// The event with which a chain goes on under another key.
  static let eventKind = "chain_began"

  /// The last event that the present key does not prove; nil where it proves all.
  static func read(_ connection: Connection) throws -> ChainHead? {
    let note = try connection.first(readNote) { row in try row.text(0) }
    guard let number = note.flatMap({ Int64($0) }) else { return nil }
    return try connection.first(readEvent, [.integer(number)]) { row in
      ChainHead(sequence: number, code: try row.blob(0))
    }
  }

  /// Whether the event after a start is the one that says so.
  static func isConfirmed(_ start: ChainHead, _ connection: Connection) throws -> Bool {
    let next = [Value.integer(start.sequence + 1)]
    return try connection.first(readKind, next) { row in try row.text(0) } == eventKind
  }

  fileprivate static let setNote = SQL(
    """
    INSERT INTO meta (name, value) VALUES ('chain_start', ?1)
    ON CONFLICT DO UPDATE SET value = ?1
    """
  )
  private static let readNote = SQL("SELECT value FROM meta WHERE name = 'chain_start'")
  private static let readEvent = SQL("SELECT mac FROM events WHERE seq = ?1")
  private static let readKind = SQL("SELECT event FROM events WHERE seq = ?1")
}

extension LedgerTransaction {
  /// Lets the chain go on under the key that the ledger was opened with.
  func beginChain() throws {
    let last = nextSequence - 1
    guard last > 0 else { return }
    try connection.run(ChainStart.setNote, [.text(String(last))])
    try record(
      Event(
        at: now,
        kind: ChainStart.eventKind,
        detail: "the key of the events before this one is lost: they cannot be proven any more"
      )
    )
  }
}
