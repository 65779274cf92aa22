import Digests
import Glibc
import HandoffProtocol
import LinuxSystem
package import Paths
import SQLite

/// What a copy of the ledger holds.
package struct BackupContents: Hashable, Sendable {
  /// The number of migrations that its schema has.
  package var schema = 0
  /// The number of its last event.
  package var events: Int64 = 0
  package var assets: Int64 = 0
  package var handoffs: Int64 = 0
  package var openHandoffs: Int64 = 0
  package var libraryID: String?
  /// Names the key, and tells nothing of it; nil where whoever made the copy may not read the key.
  package var keyID: String?
}

/// Copies the ledger of a state folder into another folder, as it is at one moment, while the broker is
/// down or up.
///
/// The copy is one file that was checked as a whole: structure, indexes, and the chain of events where the
/// key can be read. With it comes the head file that belongs to exactly that moment.
package struct LedgerBackup: Sendable {
  private let here: LedgerFiles
  private let copy: LedgerFiles
  private let withKey: Bool

  /// - Parameters:
  ///   - directory: the state folder.
  ///   - target: an empty folder.
  ///   - withKey: copy the key too; whoever has both can make every state token.
  package init(directory: BytePath, target: BytePath, withKey: Bool) {
    here = LedgerFiles(directory)
    copy = LedgerFiles(target)
    self.withKey = withKey
  }

  /// Makes the copy; blocks.
  ///
  /// Everything is on the disk when it returns, but the names in the folder.
  ///
  /// - Parameter progress: the pages that are copied, and all there are.
  /// - Returns: what is in the copy.
  /// - Throws: ``LedgerError`` where there is no ledger, or one that is damaged; nothing is repaired.
  package func run(
    _ progress: (_ done: Int, _ total: Int) throws -> Void
  ) throws -> BackupContents {
    try here.checkKinds()
    guard try here.size(of: here.database) ?? 0 > 0 else {
      throw LedgerError.missing(here.database)
    }
    do {
      // Before the copy: what is committed meanwhile only makes the chain longer.
      let known = try HeadFile.read(here.head)
      try takeOver(progress)
      return try finish(known)
    } catch let error as SchemaError {
      throw LedgerError.unusable(here.database, detail: error.description)
    } catch let error as SQLiteError where error.isDamage {
      throw LedgerError.damaged(here.database, detail: error.message)
    }
  }

  private func takeOver(_ progress: (Int, Int) throws -> Void) throws {
    let source = try Connection(here.database, .read, busyTimeout: OpenedLedger.busyTimeout)
    try source.checkSchema(
      newest: Schema.migrations.count,
      applicationID: Schema.applicationID
    )
    try copy.makeDatabase()
    let target = try Connection(copy.database, .writeWithoutLog, busyTimeout: .seconds(1))
    try source.copy(to: target, progress)
    try target.close()
    try source.close()
  }

  private func finish(_ known: ChainHead?) throws -> BackupContents {
    // Opened anew, it is made a file without a log.
    let connection = try Connection(copy.database, .writeWithoutLog, busyTimeout: .seconds(1))
    if let finding = try connection.integrityFindings().first {
      throw LedgerError.damaged(here.database, detail: finding)
    }
    let key = try withKey ? here.readKey() : here.readableKey()
    try OpenedLedger.check(known, against: connection, here, try key.map { try LedgerKeys($0) })
    if let key {
      try LedgerFiles.requireIntact(connection, key, known: known, here.database)
    } else if withKey {
      throw LedgerError.keyLost(here.key)
    }
    var contents = try BackupQueries.contents(of: connection)
    contents.keyID = try key.map { try LedgerKeys.id(of: $0) }
    let head = try HeadFile(copy.head)
    try head.write(try OpenedLedger.lastEvent(connection) ?? .start)
    try head.sync()
    try connection.close()
    try FileDescriptor.open(copy.database, O_RDONLY).sync()
    if withKey, let key { try copy.write(key: key) }
    return contents
  }
}

extension LedgerKeys {
  /// A name for a key that tells nothing of it.
  static func id(of key: [UInt8]) throws -> String {
    let code = try HMACSHA256.code(of: Array("key id".utf8), key: key)
    return Array(code[..<16]).hexDigits
  }
}

extension LedgerFiles {
  /// Writes a key that was had before, for its owner alone.
  func write(key bytes: [UInt8]) throws {
    let file = try FileDescriptor.open(key, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    try file.write(bytes)
    try file.sync()
  }

  /// Throws where the chain of events of a database is not the one that was written under a key.
  static func requireIntact(
    _ connection: Connection,
    _ key: [UInt8],
    known: ChainHead?,
    _ path: BytePath
  ) throws {
    switch try ChainAudit.verdict(connection, LedgerKeys(key), known: known ?? .start) {
    case .intact, .keyUnavailable: break
    case .broken(let number):
      throw LedgerError.damaged(path, detail: "the chain of events is broken at event \(number)")
    case .cut(let found, let expected):
      throw LedgerError.cut(path, found: found, expected: expected)
    }
  }
}

private enum BackupQueries {
  static func contents(of connection: Connection) throws -> BackupContents {
    var contents = BackupContents()
    contents.schema = try connection.schemaVersion()
    contents.events = try OpenedLedger.lastEvent(connection)?.sequence ?? 0
    contents.libraryID = try connection.first(library) { row in try row.text(0) }
    contents.assets = try connection.first(assets) { row in try row.integer(0) } ?? 0
    contents.handoffs = try connection.first(handoffs) { row in try row.integer(0) } ?? 0
    contents.openHandoffs = try connection.first(open) { row in try row.integer(0) } ?? 0
    return contents
  }

  private static let library = SQL("SELECT value FROM meta WHERE name = 'library_id'")
  private static let assets = SQL("SELECT count(*) FROM assets")
  private static let handoffs = SQL("SELECT count(*) FROM handoffs")
  private static let open = SQL("SELECT count(*) FROM handoffs WHERE finished_at IS NULL")
}
