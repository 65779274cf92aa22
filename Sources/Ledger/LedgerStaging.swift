import Digests
import Glibc
package import HandoffProtocol
import LinuxSystem
package import Paths
import SQLite

/// Takes the ledger of a backup into a folder of its own, checked, and with a key: ready to be opened there.
package struct LedgerStaging: Sendable {
  /// Where the key of a restored ledger came from.
  package enum KeySource: String, Hashable, Sendable {
    /// The state folder had it.
    case stateFolder = "state_folder"
    case backup
    /// It is lost: a new one was made.
    case new
  }

  let backup: BytePath
  let staged: BytePath
  let directory: BytePath
  let digest: ContentDigest
  let keyID: String?

  /// - Parameters:
  ///   - backup: the backup's folder.
  ///   - staged: an empty folder of the state folder's file system.
  ///   - directory: the state folder; only its key is looked at.
  ///   - digest: of the backup's database file.
  ///   - keyID: as the backup has it; see ``BackupContents/keyID``.
  package init(
    backup: BytePath,
    staged: BytePath,
    directory: BytePath,
    digest: ContentDigest,
    keyID: String?
  ) {
    self.backup = backup
    self.staged = staged
    self.directory = directory
    self.digest = digest
    self.keyID = keyID
  }

  /// Copies and checks; blocks.
  ///
  /// - Parameter progress: the bytes that were copied since the last call.
  /// - Returns: where its key came from.
  /// - Throws: ``LedgerError`` for a backup that is damaged, foreign or newer.
  package func run(_ progress: (Int) -> Void) throws -> KeySource {
    let from = LedgerFiles(backup)
    try from.checkKinds()
    guard let head = try HeadFile.read(from.head) else { throw LedgerError.headLost(from.head) }
    let here = LedgerFiles(staged)
    guard try copy(from.database, to: here.database, progress) == digest.bytes else {
      throw LedgerError.unusable(
        from.database,
        detail:
          "this backup is damaged: its bytes are not those that its manifest names; nothing was changed"
      )
    }
    let file = try HeadFile(here.head)
    try file.write(head)
    try file.sync()
    let source: KeySource
    do {
      source = try check(head, from)
    } catch let error as SchemaError {
      throw LedgerError.unusable(from.database, detail: error.description)
    } catch let error as SQLiteError where error.isDamage {
      throw LedgerError.damaged(from.database, detail: error.message)
    }
    try here.syncDirectory()
    return source
  }

  private func check(_ head: ChainHead, _ from: LedgerFiles) throws -> KeySource {
    let here = LedgerFiles(staged)
    let connection = try Connection(here.database, .writeWithoutLog, busyTimeout: .seconds(1))
    try connection.checkSchema(
      newest: Schema.migrations.count,
      applicationID: Schema.applicationID
    )
    if let finding = try connection.integrityFindings().first {
      throw LedgerError.damaged(from.database, detail: finding)
    }
    guard try OpenedLedger.lastEvent(connection) ?? .start == head else {
      throw LedgerError.damaged(from.database, detail: "its head file belongs to another moment")
    }
    let source = try takeKey(connection, head, from)
    try connection.close()
    return source
  }

  /// The key that the ledger was written with, wherever it is; else a new one.
  private func takeKey(
    _ connection: Connection,
    _ head: ChainHead,
    _ from: LedgerFiles
  ) throws -> KeySource {
    let here = LedgerFiles(staged)
    let places: [(KeySource, LedgerFiles)] = [
      (.stateFolder, LedgerFiles(directory)), (.backup, from),
    ]
    for (source, files) in places {
      guard let key = try usableKey(files) else { continue }
      if let keyID {
        guard try LedgerKeys.id(of: key) == keyID else { continue }
        try LedgerFiles.requireIntact(connection, key, known: head, from.database)
      } else {
        // Whoever made the backup could not read the key, so only the chain tells.
        let verdict = try ChainAudit.verdict(connection, LedgerKeys(key), known: head)
        guard case .intact = verdict else { continue }
      }
      try here.write(key: key)
      return source
    }
    _ = try here.makeKey()
    return .new
  }

  /// Nil also for a key of another size, which is none.
  private func usableKey(_ files: LedgerFiles) throws -> [UInt8]? {
    do {
      return try files.readKey()
    } catch LedgerError.keyLost {
      return nil
    }
  }

  /// Copies a file and returns the SHA-256 of its bytes.
  private func copy(
    _ from: BytePath,
    to path: BytePath,
    _ progress: (Int) -> Void
  ) throws -> [UInt8] {
    let source = try FileDescriptor.open(from, O_RDONLY | O_NOFOLLOW)
    let target = try FileDescriptor.open(
      path,
      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
      mode: 0o600
    )
    let digest = try FileDigest.read(source) { piece in
      try target.write(piece)
      progress(piece.count)
    }
    try target.sync()
    return digest
  }
}

/// The digest of a file that is read in pieces.
package enum FileDigest {
  private static let piece = 256 << 10

  /// The SHA-256 of a file's bytes.
  package static func of(_ path: BytePath) throws -> [UInt8] {
    try read(try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)) { _ in }
  }

  static func read(
    _ file: FileDescriptor,
    _ each: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
    defer { buffer.deallocate() }
    var digest = try SHA256()
    while true {
      let count = try file.read(into: buffer)
      guard count > 0 else { break }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      digest.update(bytes)
      try each(bytes)
    }
    return try digest.finish()
  }
}
