extension Connection {
  /// What of a commit could be lost in a power cut; nil where nothing could.
  ///
  /// Asked of SQLite itself: a setting that it did not take is silent (sqlite.org/pragma.html).
  package func weakness() throws -> String? {
    let journal = try first(Self.journal) { row in try row.text(0) }
    guard journal == "wal" else { return "its journal mode is \(journal ?? "unknown"), not WAL" }
    let level = try first(Self.synchronous) { row in try row.integer(0) }
    guard let level, level >= Self.full else {
      return "its synchronous level is \(level ?? -1), less than FULL: a commit could be undone"
    }
    return nil
  }

  /// How far a checkpoint came, in pages.
  package struct Checkpoint: Hashable, Sendable {
    /// Somebody held a lock that it needed.
    package let wasBusy: Bool
    /// In the write-ahead log; −1 where there is none.
    package let logged: Int64
    /// Of these, in the database file too.
    package let folded: Int64
  }

  /// Folds the write-ahead log into the database as far as its readers let it, waiting for nobody.
  package func fold() throws -> Checkpoint? {
    try first(Self.passive, [], Self.checkpoint)
  }

  /// Folds the whole log and empties its file; others cannot write meanwhile.
  ///
  /// It waits for the writer and for readers, for each as long as the busy timeout is.
  package func emptyLog() throws -> Checkpoint? {
    try first(Self.truncate, [], Self.checkpoint)
  }

  private static func checkpoint(_ row: borrowing Row) throws -> Checkpoint {
    Checkpoint(
      wasBusy: try row.integer(0) != 0,
      logged: try row.integer(1),
      folded: try row.integer(2)
    )
  }

  private static let full: Int64 = 2
  private static let journal = SQL("PRAGMA journal_mode")
  private static let synchronous = SQL("PRAGMA synchronous")
  private static let passive = SQL("PRAGMA wal_checkpoint(PASSIVE)")
  private static let truncate = SQL("PRAGMA wal_checkpoint(TRUNCATE)")
}
