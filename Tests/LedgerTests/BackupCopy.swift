import Glibc
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

/// A backup of a fixture's ledger in a folder beside it, and what a restoration makes of it.
struct BackupCopy: Sendable {
  let path: BytePath
  let contents: BackupContents
  /// As the manifest has it.
  var digest: ContentDigest

  private static let thread = BlockingThread("test.backup")

  static func make(
    of fixture: LedgerFixture,
    _ number: Int,
    withKey: Bool = false
  ) async throws -> BackupCopy {
    let path = fixture.directory.appending(BytePath("backup-\(number)"))
    try Directory.create(path)
    let backup = LedgerBackup(directory: fixture.directory, target: path, withKey: withKey)
    let contents = try await thread.run { try backup.run { _, _ in } }
    return BackupCopy(path: path, contents: contents, digest: try digest(path))
  }

  static func digest(_ path: BytePath) throws -> ContentDigest {
    try #require(ContentDigest(try FileDigest.of(path.appending("ledger.db"))))
  }

  private var place: BytePath { path.addingSuffix("-staged") }

  /// Takes it into a folder of its own; with a fixture's key, or with none in the state folder.
  func stage(
    _ fixture: LedgerFixture,
    withKeyOf directory: BytePath? = nil
  ) async throws -> LedgerStaging.KeySource {
    try Directory.removeTree(place)
    try Directory.create(place)
    let staging = LedgerStaging(
      backup: path,
      staged: place,
      directory: directory ?? fixture.directory,
      digest: digest,
      keyID: contents.keyID
    )
    return try await Self.thread.run { try staging.run { _ in } }
  }

  /// The restored ledger, opened with the fixture's key.
  func open(_ fixture: LedgerFixture) async throws -> Ledger {
    #expect(try await stage(fixture) == .stateFolder)
    return try await opened(fixture)
  }

  /// The restored ledger, opened with the backup's key or a new one, as the state folder has none.
  func open(_ fixture: LedgerFixture, withKeyOf none: BytePath?) async throws -> Ledger {
    let empty = path.addingSuffix("-empty")
    try Directory.create(empty)
    let hasKey = try FileStatus.of(path.appending("ledger.key")) != nil
    #expect(try await stage(fixture, withKeyOf: none ?? empty) == (hasKey ? .backup : .new))
    return try await opened(fixture)
  }

  private func opened(_ fixture: LedgerFixture) async throws -> Ledger {
    try await Ledger.open(directory: place, logger: .silent, now: { fixture.time.now })
  }

  /// A copy of the restored ledger, changed by a statement.
  func staged(_ statement: String) async throws -> LedgerReader {
    let changed = path.addingSuffix("-changed")
    try Directory.removeTree(changed)
    try Directory.create(changed)
    for name in try Directory.entries(of: place).map(\.name) {
      let bytes = try FileDescriptor.open(place.appending(name), O_RDONLY).readAll(limit: 1 << 26)
      try FileDescriptor.open(changed.appending(name), O_WRONLY | O_CREAT).write(bytes)
    }
    let database = changed.appending("ledger.db")
    let connection = try Connection(database, .write, busyTimeout: .seconds(5))
    try connection.execute(Self.unlocked)
    try connection.execute(statement)
    try connection.close()
    return try await Ledger.openForReading(directory: changed)
  }

  func sql(_ statement: String) throws {
    let database = path.appending("ledger.db")
    let connection = try Connection(database, .writeWithoutLog, busyTimeout: .seconds(5))
    try connection.execute(Self.unlocked)
    try connection.execute(statement)
    try connection.close()
  }

  func overwrite(at offset: Int, _ bytes: [UInt8]) throws {
    let file = try FileDescriptor.open(path.appending("ledger.db"), O_RDWR)
    #expect(pwrite(file.rawValue, bytes, bytes.count, off_t(offset)) == bytes.count)
  }

  func replace(_ name: BytePath, from other: BackupCopy) throws {
    let bytes = try FileDescriptor.open(other.path.appending(name), O_RDONLY)
      .readAll(limit: 1 << 20)
    try FileDescriptor.open(path.appending(name), O_WRONLY | O_TRUNC).write(bytes)
  }

  /// A call of the system's on one of the backup's files.
  func run(on name: BytePath = "ledger.db", _ call: ([CChar]) -> CInt) throws {
    try checked("change", path) { call(path.appending(name).nulTerminated) }
  }

  /// Lets events be changed, as somebody with the file can.
  static let unlocked = "DROP TRIGGER events_unchanged; DROP TRIGGER events_kept"
}
