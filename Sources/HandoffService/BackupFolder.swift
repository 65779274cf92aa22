import Glibc
import HandoffControl
import HandoffProtocol
import LinuxSystem
import Paths

/// The folder of one backup.
///
/// It is made in a folder of its own inside, moved up file by file, and complete with its manifest, which comes
/// last.
struct BackupFolder: Sendable {
  let path: BytePath

  var manifest: BytePath { path.appending("manifest.json") }
  var ledger: BytePath { path.appending("ledger.db") }
  /// Where it is made.
  var partial: BytePath { path.appending(".partial") }

  /// What is moved up, in this order.
  private static let names: [BytePath] = ["ledger.key", "ledger.head", "handoff.toml", "ledger.db"]
  private static let datedPrefix = "handoff-"

  init(_ path: BytePath) {
    self.path = path
  }

  /// A folder that is named by the moment, inside another one.
  static func dated(_ moment: Timestamp, in parent: BytePath) -> BackupFolder {
    let stamp = moment.rfc3339.replacing(":", with: "-")
    return BackupFolder(parent.appending(BytePath(datedPrefix + stamp)))
  }

  /// The backup in a folder, or the newest of those that `--dated` made in it.
  ///
  /// - Throws: ``ControlError`` with `notFound` where there is no complete one.
  static func find(_ path: BytePath) throws -> (BackupFolder, BackupManifest) {
    let folder = BackupFolder(path)
    if let manifest = try folder.readManifest() { return (folder, manifest) }
    guard try FileStatus.of(path, following: true)?.kind == .directory else {
      throw ControlError(.notFound, "there is no folder \(path.displayText)")
    }
    let names = try Directory.entries(of: try Directory.canonical(path)).map(\.name)
      .filter { $0.bytes.starts(with: datedPrefix.utf8) }
    for name in names.sorted(by: { $1.bytes.lexicographicallyPrecedes($0.bytes) }) {
      let inner = BackupFolder(path.appending(name))
      if let manifest = try inner.readManifest() { return (inner, manifest) }
    }
    throw ControlError(
      .notFound,
      "\(path.displayText) holds no complete backup: a backup has a manifest.json, which is written last"
    )
  }

  private func readManifest() throws -> BackupManifest? {
    guard try FileStatus.of(manifest) != nil else { return nil }
    let bytes = try FileDescriptor.open(manifest, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      .readAll(limit: 1 << 20)
    let read: BackupManifest
    do {
      read = try WireCoder.decode(BackupManifest.self, from: bytes)
    } catch {
      throw ControlError(.refused, "\(manifest.displayText) is not a backup's manifest: \(error)")
    }
    guard read.format == BackupManifest.format else {
      throw ControlError(
        .refused,
        "\(manifest.displayText): the form \(read.format) is not known; use a newer handoff"
      )
    }
    return read
  }

  /// Makes the folder ready to be filled, and holds it for this process.
  ///
  /// - Returns: to be kept until the backup is complete.
  /// - Throws: ``ControlError`` with `refused` for a folder that has something in it.
  func begin() throws -> FileDescriptor {
    try Directory.create(path, permissions: 0o700)
    let found = Set(try Directory.entries(of: try Directory.canonical(path)).map(\.name))
    let isLeftover =
      found.contains(partial.lastComponent)
      && found.subtracting([partial.lastComponent]).isSubset(of: Self.names)
    guard found.isEmpty || isLeftover else {
      throw ControlError(
        .refused,
        "\(path.displayText) is not empty, and nothing in it is replaced: a backup goes into a new or empty "
          + "folder; --dated makes one inside"
      )
    }
    try Directory.create(partial, permissions: 0o700)
    let hold = try FileDescriptor.open(partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    do throws(SystemError) {
      try checked("flock", partial) { flock(hold.rawValue, LOCK_EX | LOCK_NB) }
    } catch {
      guard error.errno == EWOULDBLOCK else { throw error }
      throw ControlError(.unavailable, "another backup is being made in \(path.displayText)")
    }
    // What one left that was killed.
    for name in Self.names { try DurableFile.unlink(path.appending(name)) }
    for entry in try Directory.entries(of: partial) {
      try DurableFile.unlink(partial.appending(entry.name))
    }
    return hold
  }

  /// Moves up what was made, and writes the manifest.
  func complete(_ document: BackupManifest) throws {
    // Whatever a crash leaves of it is in there, and is cleared by the next backup.
    let written = partial.appending(manifest.lastComponent)
    try DurableFile.write(try WireCoder.encode(document) + [UInt8(ascii: "\n")], to: written)
    try Directory.sync(partial)
    for name in Self.names where try FileStatus.of(partial.appending(name)) != nil {
      try DurableFile.renameNoReplace(partial.appending(name), to: path.appending(name))
    }
    try Directory.sync(path)
    try DurableFile.renameNoReplace(written, to: manifest)
    try Directory.sync(path)
    try Directory.removeTree(partial)
    try Directory.sync(path)
    if !path.parent.isEmpty { try Directory.sync(path.parent) }
  }

  /// Takes away what was begun; the folder too where nothing is left in it.
  func abandon() throws {
    try DurableFile.unlink(manifest)
    for name in Self.names { try DurableFile.unlink(path.appending(name)) }
    try Directory.removeTree(partial)
    _ = rmdir(path.nulTerminated)  // stays where it was not made for this
  }
}
