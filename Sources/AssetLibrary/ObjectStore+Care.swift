import Glibc
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

extension ObjectStore {
  /// What an object's mode has to be.
  static let permissions: UInt32 = 0o444

  func glance(at digest: ContentDigest) throws(LibraryError) -> ObjectGlance? {
    let path = layout.object(digest)
    let status = try storing(path) { () throws(SystemError) in try FileStatus.of(path) }
    return status.map {
      ObjectGlance(size: $0.size, modified: $0.modified, isRegular: $0.kind == .regular)
    }
  }

  func open(_ digest: ContentDigest) throws(LibraryError) -> FileDescriptor {
    let path = layout.object(digest)
    do throws(SystemError) {
      return try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
    } catch {
      if error.errno == ENOENT { throw LibraryError(.objectMissing, path, underlying: error) }
      throw LibraryError(storing: error, at: path)
    }
  }

  /// Reads an object again; nil where the pace was stopped.
  func reread(
    _ digest: ContentDigest,
    at pace: ReadPace,
    isImporting: @escaping @Sendable () -> Bool
  ) throws(LibraryError) -> ObjectReading? {
    // Each further round means that an import has replaced the object while it was read.
    for _ in 0..<8 {
      guard !pace.isStopped else { return nil }
      guard let status = try status(of: digest) else { return ObjectReading(.missing, nil) }
      guard status.kind == .regular else { return ObjectReading(.damaged, status) }
      let found = try inBackground(pace.isBackground) { () throws(LibraryError) in
        try digestFound(under: digest, at: pace, isImporting: isImporting)
      }
      if found == digest {
        return ObjectReading(.good, status, wasMended: try mendPermissions(digest, status))
      }
      guard !pace.isStopped else { return nil }
      if try self.status(of: digest)?.isSameFile(as: status) == true {
        return ObjectReading(.damaged, status)
      }
    }
    throw LibraryError(.other, layout.object(digest), detail: "it keeps changing")
  }

  /// The digest of the bytes; nil where they cannot be read or the pace was stopped.
  private func digestFound(
    under digest: ContentDigest,
    at pace: ReadPace,
    isImporting: @escaping @Sendable () -> Bool
  ) throws(LibraryError) -> ContentDigest? {
    let path = layout.object(digest)
    do throws(LibraryError) {
      let (file, size) = try storing(path) { () throws(SystemError) in
        try faults.pass("library.verify")
        let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        return (file, try file.status().size)
      }
      // What the kernel still holds of it would hide what the disk has.
      file.adviseDone()
      defer { file.adviseDone() }
      var pass = ReadPass(source: file, path: path, size: size, isStored: true)
      pass.isStillGood = { !pace.isStopped }
      pass.onRead = { pace.took($0, whileImporting: isImporting()) }
      return try pass.digest()
    } catch let error where error.code == .sourceChanged {
      // Stopped, or it became shorter while it was read.
      return nil
    } catch let error where error.code == .inputOutput && isReadable {
      logger.error("An object cannot be read", [.path: path.displayText, .error: "\(error)"])
      return nil
    }
  }

  /// The library's own file can be read: the medium has not gone as a whole.
  private var isReadable: Bool {
    do throws(LibraryError) {
      return try readSmallFile(layout.libraryFile, limit: 65_536) != nil
    } catch {
      return false
    }
  }

  private func status(of digest: ContentDigest) throws(LibraryError) -> FileStatus? {
    try requireAvailable()
    let path = layout.object(digest)
    return try storing(path) { () throws(SystemError) in try FileStatus.of(path) }
  }

  /// Makes an object read-only again; false where it was.
  private func mendPermissions(
    _ digest: ContentDigest,
    _ status: FileStatus
  ) throws(LibraryError) -> Bool {
    guard status.permissions != Self.permissions else { return false }
    let path = layout.object(digest)
    try storing(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        .setPermissions(Self.permissions)
    }
    return true
  }

  /// Marks an object as wanted, by its inode's change time, before an import relies on it; false if it
  /// is there no more.
  func renew(_ digest: ContentDigest) throws(LibraryError) -> Bool {
    let path = layout.object(digest)
    return try exchange.withLock { () throws(LibraryError) in
      try storing(path) { () throws(SystemError) in
        do throws(SystemError) {
          try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            .setPermissions(Self.permissions)
          return true
        } catch let error where error.errno == ENOENT {
          return false
        }
      }
    }
  }

  /// Reads in the disk's idle class (ioprio_set(2)), where the scheduler knows one.
  private func inBackground<Value>(
    _ isBackground: Bool,
    _ work: () throws(LibraryError) -> Value
  ) throws(LibraryError) -> Value {
    guard isBackground else { return try work() }
    DiskPriority.setIdle(true)
    defer { DiskPriority.setIdle(false) }
    return try work()
  }
}

extension ObjectReading {
  fileprivate init(
    _ verification: Verification,
    _ status: FileStatus?,
    wasMended: Bool = false
  ) {
    self.init(
      verification: verification,
      modified: status?.modified ?? 0,
      size: status?.size ?? 0,
      wasMended: wasMended
    )
  }
}
