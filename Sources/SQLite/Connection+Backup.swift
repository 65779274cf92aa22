import CSQLite

extension Connection {
  /// Copies the whole database as it is at one moment; see sqlite.org/backup.html.
  ///
  /// One read transaction spans all steps, so that what others commit meanwhile neither gets into the copy
  /// nor makes SQLite begin it again. In WAL mode it holds up no writer; only the log grows meanwhile.
  ///
  /// - Parameters:
  ///   - target: opened for writing, and used by nobody else.
  ///   - pages: how many are copied before `progress` is told.
  ///   - progress: the pages that are done, and all there are; what it throws ends the copy.
  /// - Throws: ``SQLiteError``, with the target in a state that is worth nothing.
  package func copy(
    to target: Connection,
    pages: Int32 = 512,
    _ progress: (_ done: Int, _ total: Int) throws -> Void
  ) throws {
    try readTransaction {
      // The first read is what fixes the moment.
      _ = try schemaVersion()
      guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
        throw SQLiteError(target.handle, sqlite3_extended_errcode(target.handle))
      }
      let outcome = Result { try Self.run(backup, pages, progress) }
      // Also reports what a step has met.
      let code = sqlite3_backup_finish(backup)
      try outcome.get()
      guard code == SQLITE_OK else { throw SQLiteError(target.handle, code) }
    }
  }

  private static func run(
    _ backup: OpaquePointer,
    _ pages: Int32,
    _ progress: (Int, Int) throws -> Void
  ) throws {
    while true {
      let code = sqlite3_backup_step(backup, pages)
      let total = Int(sqlite3_backup_pagecount(backup))
      switch code {
      case SQLITE_OK, SQLITE_DONE:
        try progress(total - Int(sqlite3_backup_remaining(backup)), total)
        if code == SQLITE_DONE { return }
      case SQLITE_BUSY, SQLITE_LOCKED:
        // Somebody checkpoints or recovers the log; the busy handler does not cover every case.
        sqlite3_sleep(20)
      default:
        throw SQLiteError(code: code, message: String(cString: sqlite3_errstr(code)))
      }
    }
  }
}
