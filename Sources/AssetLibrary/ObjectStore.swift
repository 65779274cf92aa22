import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// The blocking half of the library: everything here runs on a lane or on the library's own thread.
struct ObjectStore: Sendable {
  let layout: StoreLayout
  let logger: Logger
  let faults: FaultPlan
  let presence: LibraryPresence
  let exchange = ExchangeLock()

  /// The library is there: its file system is mounted, and it is the right one.
  var isAvailable: Bool { absence == nil }

  /// Why the library cannot be used now; nil where it can.
  var absence: LibraryError? { presence.standing().absence(layout.root) }

  func requireAvailable() throws(LibraryError) {
    if let absence { throw absence }
  }

  /// Does something that needs the library; while its mount is away, every failure of the library is
  /// `library_unavailable` and none says that something is missing.
  func available<Value>(
    _ work: () throws(LibraryError) -> Value
  ) throws(LibraryError) -> Value {
    // Before anything is written to what may be an empty mount point.
    try requireAvailable()
    do throws(LibraryError) {
      return try work()
    } catch {
      guard error.code != .sourceChanged, let absence else { throw error }
      throw LibraryError(
        .unavailable,
        layout.root,
        underlying: error.underlying,
        detail: absence.detail
      )
    }
  }

  /// Reads an object again and compares it with its name.
  func look(at digest: ContentDigest) throws(LibraryError) -> ObjectLook {
    let path = layout.object(digest)
    guard let status = try storing(path, { () throws(SystemError) in try FileStatus.of(path) })
    else { return .missing }
    guard status.kind == .regular else { return .damaged(status) }
    let file = try storing(path) { () throws(SystemError) in
      try faults.pass("library.verify")
      return try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    // Of the open file: the name may have been given to another one since.
    let opened = try storing(path) { () throws(SystemError) in try file.status() }
    let pass = ReadPass(source: file, path: path, size: opened.size, isStored: true)
    return try pass.digest() == digest ? .good(opened) : .damaged(opened)
  }

  /// Gives a staged resource its name, without ever replacing a good object.
  ///
  /// An object may not share the source's inode, unless this import takes it. The answer tells whether
  /// it was there already, and where a damaged one was put.
  func place(
    _ staged: StagingFile,
    as digest: ContentDigest,
    source: FileStatus
  ) throws(LibraryError) -> Placement {
    // Each further round means that somebody placed or deleted the same content meanwhile.
    for _ in 0..<16 {
      if try renameIntoPlace(staged, digest) {
        try syncFolder(of: digest)
        return .new
      }
      switch try look(at: digest) {
      case .missing:
        continue
      case .good(let status) where status.isSameFile(as: source):
        // An earlier take whose source was not removed: the object must not be writable there.
        if try replace(status, of: digest, by: staged, keepingOld: false) == nil { continue }
        try syncFolder(of: digest)
        return .new
      case .good(let status):
        guard try renew(digest) else { continue }
        // Whoever placed it may have died before it synced the folder.
        try syncFolder(of: digest)
        return .alreadyPresent(status)
      case .damaged(let status):
        guard let old = try replace(status, of: digest, by: staged, keepingOld: true)
        else { continue }
        try syncFolder(of: digest)
        return .replaced(old, status)
      }
    }
    throw LibraryError(.other, layout.object(digest), detail: "it keeps changing")
  }

  /// False if the name is taken.
  private func renameIntoPlace(
    _ staged: StagingFile,
    _ digest: ContentDigest
  ) throws(LibraryError) -> Bool {
    let object = layout.object(digest)
    return try storing(object) { () throws(SystemError) in
      try faults.pass("library.rename")
      do throws(SystemError) {
        try DurableFile.renameNoReplace(staged.path, to: object)
        return true
      } catch let error where error.errno == EEXIST {
        return false
      }
    }
  }

  /// Puts the staged file in the place of the object that was looked at; nil if that is there no more.
  ///
  /// The old one keeps a name in `set-aside` before the new one takes its place, so that no moment and
  /// no crash leaves the object missing.
  private func replace(
    _ old: FileStatus,
    of digest: ContentDigest,
    by staged: StagingFile,
    keepingOld: Bool
  ) throws(LibraryError) -> BytePath? {
    let object = layout.object(digest)
    let aside = layout.newSetAside(digest)
    return try exchange.withLock { () throws(LibraryError) in
      try storing(object) { () throws(SystemError) in
        guard try FileStatus.of(object)?.isSameFile(as: old) == true else { return nil }
        if keepingOld {
          try faults.pass("library.set-aside")
          try DurableFile.link(object, to: aside)
          try Directory.sync(layout.setAside)
        }
        try faults.pass("library.replace")
        try DurableFile.rename(staged.path, to: object)
        return aside
      }
    }
  }

  /// Gives an object an inode of its own if it is that of a file outside the library.
  func separate(_ digest: ContentDigest, from identity: FileIdentity) throws(LibraryError) {
    let path = layout.object(digest)
    let status = try storing(path) { () throws(SystemError) in try FileStatus.of(path) }
    guard let status, status.device == identity.device, status.inode == identity.inode,
      status.links > 1
    else { return }
    let object = try storing(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    let staged = try StagingFile.make(.import, in: layout, faults: faults)
    do throws(LibraryError) {
      let pass = ReadPass(source: object, path: path, size: status.size, isStored: true)
      let target = ReadPass.Target(file: staged.file, path: staged.path, faults: faults)
      guard try pass.digest(copyingTo: target) == digest else {
        throw LibraryError(.objectDamaged, path)
      }
      try staged.seal(faults: faults)
      if try replace(status, of: digest, by: staged, keepingOld: false) == nil {
        staged.discard(faults: faults, logger: logger)
      }
      try syncFolder(of: digest)
    } catch {
      staged.discard(faults: faults, logger: logger)
      throw error
    }
  }

  private func syncFolder(of digest: ContentDigest) throws(LibraryError) {
    let shard = layout.shard(digest)
    try storing(shard) { () throws(SystemError) in
      try faults.pass("library.sync-folder")
      try Directory.sync(shard)
    }
  }
}

/// What an object turned out to be when it was read again.
enum ObjectLook: Hashable, Sendable {
  case good(FileStatus)
  case missing
  /// Its bytes do not have its digest, or it is no file at all.
  case damaged(FileStatus)
}

/// How a staged resource came to its name.
enum Placement: Hashable, Sendable {
  case new
  /// It was there with this status.
  case alreadyPresent(FileStatus)
  /// A damaged object was there with this status; it has this name now.
  case replaced(BytePath, FileStatus)

  var isAlreadyPresent: Bool {
    if case .alreadyPresent = self { true } else { false }
  }
}

/// Held while an object that is there already is exchanged: the look at it and the exchange are one.
///
/// One broker uses a library at a time, so a lock of the process is enough.
final class ExchangeLock: Sendable {
  private let mutex = Mutex(())

  func withLock<Value: Sendable>(
    _ work: () throws(LibraryError) -> Value
  ) throws(LibraryError) -> Value {
    try mutex.withLock { _ throws(LibraryError) in try work() }
  }
}

extension FileStatus {
  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}
