import HandoffProtocol
import LinuxSystem
import SQLite

/// A ledger's files, checked and open for writing; blocks.
struct OpenedLedger {
  let connection: Connection
  let keys: LedgerKeys
  let headFile: HeadFile

  /// How long a call waits for another program that holds the ledger's lock, such as `sqlite3`.
  static let busyTimeout = Duration.seconds(20)

  /// In this order, so that a crash at any point leaves what the next start can take up, and nothing
  /// is created where a check says no.
  init(_ files: LedgerFiles, lockPatience: Duration = busyTimeout) throws {
    try files.checkFileSystem()
    try files.checkKinds()
    try files.checkNothingVanished()
    try files.checkWritable()
    let isNew = try files.size(of: files.database) ?? 0 == 0
    let key = try files.readKey()
    if key == nil, !isNew { throw LedgerError.keyLost(files.key) }
    keys = try LedgerKeys(try key ?? files.makeKey())
    if isNew { try files.makeDatabase() }
    let known = try HeadFile.read(files.head)
    do {
      connection = try Connection(files.database, .write, busyTimeout: lockPatience)
      if let weakness = try connection.weakness() {
        throw LedgerError.unusable(files.database, detail: weakness)
      }
      try Self.check(connection, files)
      // Before anything is written: a database whose log was deleted may look like an empty one.
      try Self.check(known, before: connection, files, keys)
      try connection.migrate(Schema.migrations, applicationID: Schema.applicationID)
    } catch let error as SchemaError {
      throw LedgerError.unusable(files.database, detail: error.description)
    } catch let error as SQLiteError where error.isDamage {
      throw LedgerError.damaged(files.database, detail: error.message)
    }
    headFile = try HeadFile(files.head)
    if known == nil {
      try headFile.write(try Self.lastEvent(connection) ?? .start)
      try headFile.sync()
      try files.syncDirectory()
    }
  }

  static func check(_ connection: Connection, _ files: LedgerFiles) throws {
    try connection.checkSchema(
      newest: Schema.migrations.count,
      applicationID: Schema.applicationID
    )
    if let finding = try connection.damage().first {
      let line = finding.replacing("\n", with: " ")
      throw LedgerError.damaged(files.database, detail: line)
    }
  }

  private static func check(
    _ known: ChainHead?,
    before connection: Connection,
    _ files: LedgerFiles,
    _ keys: LedgerKeys
  ) throws {
    if try connection.schemaVersion() > 0 {
      return try check(known, against: connection, files, keys)
    }
    guard let known, known.sequence > 0 else { return }
    throw LedgerError.cut(files.database, found: 0, expected: known.sequence)
  }

  /// The ledger may be ahead of its head file, never behind it, and must hold the event it names.
  static func check(
    _ known: ChainHead?,
    against connection: Connection,
    _ files: LedgerFiles,
    _ keys: LedgerKeys?
  ) throws {
    guard let known else {
      // A crash between a new ledger and its first head file leaves one without events.
      if try lastEvent(connection) != nil { throw LedgerError.headLost(files.head) }
      return
    }
    let last = try lastEvent(connection) ?? .start
    guard last.sequence >= known.sequence else {
      throw LedgerError.cut(files.database, found: last.sequence, expected: known.sequence)
    }
    guard known.sequence > 0 else { return }
    let code = try connection.first(codeOfEvent, [.integer(known.sequence)]) { row in
      try row.blob(0)
    }
    // After a power cut the file may name an event that has been pruned since.
    if code == nil, try connection.schemaVersion() >= Schema.pruningVersion,
      let range = try PrunedRange.covering(known.sequence, in: connection),
      try keys.map({ try range.isGenuine($0) }) ?? true,
      range.last != known.sequence || range.after == known.code
    {
      return
    }
    guard code == known.code else {
      throw LedgerError.damaged(
        files.database,
        detail: "event \(known.sequence) is not the one that the head file knows"
      )
    }
  }

  static func lastEvent(_ connection: Connection) throws -> ChainHead? {
    try connection.first(lastEvent) { row in
      ChainHead(sequence: try row.integer(0), code: try row.blob(1))
    }
  }

  private static let lastEvent = SQL("SELECT seq, mac FROM events ORDER BY seq DESC LIMIT 1")
  private static let codeOfEvent = SQL("SELECT mac FROM events WHERE seq = ?1")
}
