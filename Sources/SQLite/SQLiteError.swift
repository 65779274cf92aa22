import CSQLite

/// A call that SQLite refused, with the text of the statement and never with its values.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The extended result code; see sqlite.org/rescode.html.
  package let code: CInt
  /// SQLite's own text.
  package let message: String
  /// The statement, with placeholders; nil where there was none.
  package let sql: String?

  package init(code: CInt, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// The lower eight bits: the kind of failure.
  package var primaryCode: CInt { code & 0xFF }

  /// The same call may succeed later without anybody changing the input.
  package var mayPass: Bool {
    [
      SQLITE_BUSY, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_INTERRUPT, SQLITE_IOERR, SQLITE_LOCKED,
      SQLITE_NOMEM, SQLITE_READONLY,
    ].contains(primaryCode)
  }

  /// Another connection held the lock for longer than the busy timeout.
  package var isBusy: Bool { primaryCode == SQLITE_BUSY }

  /// A CHECK, UNIQUE, NOT NULL or foreign key constraint, or a trigger, said no.
  package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

  /// The file is not a database, or its structure is broken.
  package var isDamage: Bool {
    primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB
  }

  /// The file system has no room for the change.
  package var isFull: Bool { primaryCode == SQLITE_FULL }

  package var description: String {
    guard let sql else { return "SQLite: \(message) (\(code))" }
    return "SQLite: \(message) (\(code)) in: \(sql)"
  }
}
