import Digests
import Glibc
import LinuxSystem
import Paths

/// The files of a ledger, and what must be true of them before SQLite touches any.
struct LedgerFiles: Sendable {
  let database: BytePath
  /// SQLite's write-ahead log of the database.
  let log: BytePath
  let key: BytePath
  let head: BytePath
  private let directory: BytePath

  init(_ directory: BytePath) {
    self.directory = directory
    database = directory.appending("ledger.db")
    log = database.addingSuffix("-wal")
    key = directory.appending("ledger.key")
    head = directory.appending("ledger.head")
  }

  /// Refuses file systems whose locks or shared memory cannot be trusted (sqlite.org/wal.html);
  /// nothing has been created yet.
  func checkFileSystem() throws {
    let folder = try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY)
    if let name = try folder.fileSystem().networkName {
      throw LedgerError.notLocal(directory, name: name)
    }
  }

  /// Throws where something else than a file has the name of one of them: nothing is followed, and nothing
  /// is written through a link to somewhere else.
  func checkKinds() throws {
    for path in [database, key, head, database.addingSuffix("-wal")] {
      let what: String
      switch try FileStatus.of(path)?.kind {
      case nil, .regular: continue
      case .directory: what = "a folder"
      case .symbolicLink: what = "a symbolic link"
      case .other: what = "no file (a FIFO, socket or device)"
      }
      throw LedgerError.unusable(path, detail: "it is \(what), where the ledger's file should be")
    }
  }

  /// Throws where what is there may only be read: SQLite would open it all the same, and fail at the first
  /// change.
  func checkWritable() throws {
    for path in [directory, database, key, head] where access(path.nulTerminated, R_OK | W_OK) == -1
    {
      let error = SystemError.last("access", path)
      guard error.errno != ENOENT else { continue }
      throw LedgerError.unusable(
        path,
        detail:
          "it cannot be written (\(error.reason)); the ledger and its folder must belong to the "
          + "broker's user, on a file system that is mounted for writing"
      )
    }
  }

  /// Throws when a ledger was here and its file is gone: a new empty one would import and hand off
  /// everything again.
  func checkNothingVanished() throws {
    guard try size(of: database) ?? 0 == 0 else { return }
    if try size(of: head) != nil { throw LedgerError.vanished(database) }
  }

  /// Bytes, or nil where there is no such file.
  func size(of path: BytePath) throws -> Int64? {
    do {
      let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      return try file.status().size
    } catch let error where error.errno == ENOENT {
      return nil
    }
  }

  /// Makes the database file for its owner alone; SQLite would let everybody read it.
  func makeDatabase() throws {
    _ = try FileDescriptor.open(database, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
  }

  /// The key's 32 bytes; nil where there is none.
  func readKey() throws -> [UInt8]? {
    do {
      let file = try FileDescriptor.open(key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let bytes = try file.readAll(limit: 4096)
      guard bytes.count == Self.keySize else { throw LedgerError.keyLost(key) }
      return bytes
    } catch let error as SystemError where error.errno == ENOENT {
      return nil
    }
  }

  /// The key's bytes; nil also where the caller may not read them.
  func readableKey() throws -> [UInt8]? {
    do {
      return try readKey()
    } catch let error as SystemError where error.errno == EACCES || error.errno == EPERM {
      return nil
    }
  }

  /// Makes the key once: whole under another name, on the disk, then linked into place, so that a
  /// crash leaves none or a whole one, and an existing one is never replaced.
  func makeKey() throws -> [UInt8] {
    let bytes = try RandomBytes.make(count: Self.keySize)
    let staged = key.addingSuffix(".new")
    _ = unlink(staged.nulTerminated)  // what a crash left; open reports anything else
    let file = try FileDescriptor.open(staged, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try file.write(bytes)
    try file.sync()
    try checked("link", key) { link(staged.nulTerminated, key.nulTerminated) }
    try checked("unlink", staged) { unlink(staged.nulTerminated) }
    try syncDirectory()
    return bytes
  }

  /// Waits until the names in the folder are on the disk.
  func syncDirectory() throws {
    try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY).sync()
  }

  static let keySize = 32
}
