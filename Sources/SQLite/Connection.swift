import CSQLite
package import Paths

/// One connection to a database file.
///
/// It blocks, and belongs to one thread at a time.
///
/// It is opened in SQLite's multi-thread mode: whoever holds it keeps calls from overlapping
/// (sqlite.org/threadsafe.html).
package final class Connection {
  /// How a file is opened.
  package enum Mode: Hashable, Sendable {
    /// Reads only; the file must be there.
    case read
    /// Reads and writes, and makes the file if it is not there.
    case write
    /// As `write`, without a log beside the file: for a copy that is one file.
    case writeWithoutLog
  }

  private(set) var handle: OpaquePointer?
  private var statements: [ObjectIdentifier: Statement] = [:]
  /// Far more than a program has constants; reached only by one that makes statements at run time.
  private static let cacheLimit = 500

  /// SQLite's one configuration; a static stored property is made once, whichever thread is first.
  private static let configuration = handoff_sqlite3_configure()

  /// Opens a file, in WAL mode and with `synchronous=FULL` when it is opened for writing.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - mode: what is done with it.
  ///   - busyTimeout: how long a call waits for the lock of another connection.
  /// - Throws: ``SQLiteError`` for a file that cannot be opened or is no database.
  package init(_ path: BytePath, _ mode: Mode, busyTimeout: Duration) throws(SQLiteError) {
    // Where something else in the process has used SQLite before, it only stays slower.
    _ = Self.configuration
    let access = mode == .read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path.nulTerminated, &opened, flags, nil)
    // A handle comes back also with an error, to be asked for the text and closed.
    handle = opened
    guard code == SQLITE_OK else { throw SQLiteError(opened, code) }
    let (seconds, attoseconds) = busyTimeout.components
    let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    sqlite3_busy_timeout(opened, CInt(clamping: milliseconds))
    // A schema that was tampered with must not run functions with side effects.
    try execute("PRAGMA trusted_schema = OFF")
    try execute("PRAGMA foreign_keys = ON")
    try execute("PRAGMA temp_store = MEMORY")
    // In KiB. The kernel keeps the rest: a larger one grows for days until it is full, and saves little.
    try execute("PRAGMA cache_size = -4096")
    switch mode {
    case .write:
      try execute("PRAGMA journal_mode = WAL")
      try execute("PRAGMA synchronous = FULL")
      // Pages that change often are written back once for many commits.
      try execute("PRAGMA wal_autocheckpoint = 4000")
      // The log shrinks to this once a reader that held it has gone.
      try execute("PRAGMA journal_size_limit = 33554432")
    case .writeWithoutLog:
      // Folds a log in, where the file was copied from one that had it.
      try execute("PRAGMA journal_mode = DELETE")
      try execute("PRAGMA synchronous = FULL")
    case .read:
      try execute("PRAGMA query_only = ON")
    }
  }

  deinit {
    statements = [:]
    // Every statement is finalised, so this cannot be refused.
    _ = sqlite3_close_v2(handle)
  }

  /// Closes now and reports what SQLite says; the last connection of a file folds the log into it.
  package func close() throws(SQLiteError) {
    statements = [:]
    let code = sqlite3_close(handle)
    guard code == SQLITE_OK else { throw SQLiteError(handle, code) }
    handle = nil
  }

  /// Runs a statement to its end and returns how many rows it changed.
  @discardableResult
  package func run(_ sql: SQL, _ values: [Value] = []) throws(SQLiteError) -> Int {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {}
    return Int(sqlite3_changes64(handle))
  }

  /// All rows, each made into a value.
  package func rows<Element>(
    _ sql: SQL,
    _ values: [Value] = [],
    _ make: (borrowing Row) throws -> Element
  ) throws -> [Element] {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    var elements: [Element] = []
    while try statement.step() { elements.append(try make(statement.row)) }
    return elements
  }

  /// Each row in turn, for results that need not be held in memory.
  package func forEach(
    _ sql: SQL,
    _ values: [Value] = [],
    _ body: (borrowing Row) throws -> Void
  ) throws {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() { try body(statement.row) }
  }

  /// The first row made into a value, or nil if there is none.
  ///
  /// The statement ends after it.
  package func first<Element>(
    _ sql: SQL,
    _ values: [Value] = [],
    _ make: (borrowing Row) throws -> Element
  ) throws -> Element? {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? try make(statement.row) : nil
  }

  /// Runs statements that return nothing and are not kept: schema and pragmas.
  package func execute(_ script: String) throws(SQLiteError) {
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    guard code == SQLITE_OK else {
      // A whole schema would hide the message.
      throw SQLiteError(handle, code, SQL(String(script.prefix(80))))
    }
  }

  /// The id of the row inserted last; see sqlite3_last_insert_rowid.
  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// No transaction is open: none was begun, or SQLite has rolled it back by itself, as it may after
  /// a full disk or an I/O error.
  package var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

  private func prepared(_ sql: SQL) throws(SQLiteError) -> Statement {
    if let statement = statements[ObjectIdentifier(sql)] { return statement }
    guard let handle else {
      throw SQLiteError(code: SQLITE_MISUSE, message: "the connection is closed", sql: sql.text)
    }
    let statement = try Statement(sql, in: handle)
    if statements.count >= Self.cacheLimit { statements = [:] }
    // The statement holds its SQL, so the identity stays taken.
    statements[ObjectIdentifier(sql)] = statement
    return statement
  }
}
