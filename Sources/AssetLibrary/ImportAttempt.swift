import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

/// One attempt to bring an export's bytes into the library, on a lane.
///
/// Order: stage, digest in the same pass, compare with what was judged, seal (read-only, fsync), rename
/// into place, sync the folder. Whatever fails, the staging file is removed and the source is as it
/// was; whatever kills it, the name in `objects` is absent or whole.
struct ImportAttempt: Sendable {
  let store: ObjectStore
  let source: FileDescriptor
  let path: BytePath
  /// The export as it was judged.
  let expected: FileIdentity
  let mode: ImportMode
  /// What the writer says of the bytes; others come nowhere.
  let checksum: ContentChecksum?
  /// The lease: false once somebody wants to write.
  let isStillGood: @Sendable () -> Bool

  func run() throws(LibraryError) -> ImportedResource {
    let status = try sourceStatus()
    guard status.kind == .regular else {
      throw LibraryError(.sourceUnreadable, path, detail: "it is not a regular file")
    }
    try confirm { $0 == expected }
    if mode == .take, let resource = try take(status) { return resource }
    // A take that could not be may have changed the inode's change time.
    let current = try sourceStatus().identity
    guard current == expected || mode == .take && current.hasSameContent(as: expected)
    else { throw changed() }
    let staged = try StagingFile.make(.import, in: store.layout, faults: store.faults)
    do throws(LibraryError) {
      return try fill(staged, status, current)
    } catch {
      staged.discard(faults: store.faults, logger: store.logger)
      throw error
    }
  }

  // MARK: By clone or copy

  private func fill(
    _ staged: StagingFile,
    _ status: FileStatus,
    _ current: FileIdentity
  ) throws(LibraryError) -> ImportedResource {
    let isClone = try clone(into: staged)
    let pass: ReadPass
    if isClone {
      // What is digested is what is kept: the clone, which no writer can reach.
      pass = ReadPass(
        source: staged.file,
        path: staged.path,
        size: expected.size,
        isStillGood: isStillGood,
        isStored: true,
        checksum: checksum
      )
    } else {
      pass = sourcePass
    }
    let target = ReadPass.Target(file: staged.file, path: staged.path, faults: store.faults)
    let digest = try pass.digest(copyingTo: isClone ? nil : target)
    try confirm { $0 == current }
    try staged.seal(faults: store.faults)
    let placement = try store.place(staged, as: digest, source: status)
    if placement.isAlreadyPresent {
      staged.discard(faults: store.faults, logger: store.logger)
    }
    source.adviseDone()
    return ImportedResource(
      digest,
      expected.size,
      placement,
      method: isClone ? .reflinked : .copied
    )
  }

  /// False where the file system cannot clone.
  private func clone(into staged: StagingFile) throws(LibraryError) -> Bool {
    let cloned = try storing(staged.path) { () throws(SystemError) -> Int64? in
      try store.faults.pass("library.clone")
      do throws(SystemError) {
        try DurableFile.clone(from: source, to: staged.file)
      } catch let error where Self.cannotClone.contains(error.errno) {
        return nil
      }
      return try staged.file.status().size
    }
    guard cloned == nil || cloned == expected.size else { throw changed() }
    return cloned != nil
  }

  private static let cannotClone = [EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, ENOSYS, EPERM, ETXTBSY]

  // MARK: By taking the source's inode

  /// Nil where the source must be copied instead; then it is as it was.
  private func take(_ status: FileStatus) throws(LibraryError) -> ImportedResource? {
    let parent = path.parent.isEmpty ? "." : path.parent
    guard status.links == 1, access(parent.nulTerminated, W_OK | X_OK) == 0,
      try own(status)
    else { return nil }
    var staged: StagingFile?
    do throws(LibraryError) {
      staged = try StagingFile.link(source, in: store.layout, faults: store.faults)
      if let staged { return try finish(staged, status) }
      giveBack(status)
      return nil
    } catch {
      staged?.discard(faults: store.faults, logger: store.logger)
      giveBack(status)
      throw error
    }
  }

  /// Makes the source the broker's own; false where that is not allowed.
  private func own(_ status: FileStatus) throws(LibraryError) -> Bool {
    if status.owner == geteuid() { return true }
    return try storing(path) { () throws(SystemError) in
      do throws(SystemError) {
        try store.faults.pass("library.chown")
        try source.setOwner(geteuid(), group: getegid())
        return true
      } catch let error where [EPERM, EROFS, EOPNOTSUPP].contains(error.errno) {
        return false
      }
    }
  }

  private func finish(
    _ staged: StagingFile,
    _ status: FileStatus
  ) throws(LibraryError) -> ImportedResource {
    // The link has changed the inode's change time, so the comparison starts anew.
    let linked = try sourceStatus().identity
    guard linked.hasSameContent(as: expected) else { throw changed() }
    let digest = try sourcePass.digest()
    try confirm { $0 == linked }
    try staged.seal(faults: store.faults)
    guard try sourceStatus().links == 2 else { throw changed() }
    try confirm { $0.hasSameContent(as: linked) }
    let placement = try store.place(staged, as: digest, source: status)
    if placement.isAlreadyPresent {
      staged.discard(faults: store.faults, logger: store.logger)
      giveBack(status)
    }
    return ImportedResource(digest, expected.size, placement, method: .taken)
  }

  /// Undoes what a take did to the source's owner and mode, unless the inode is an object by now: that
  /// stays the broker's own, and the next import of the source makes the object independent of it.
  private func giveBack(_ status: FileStatus) {
    store.logger.logged("The owner and mode of an export could not be restored.") {
      guard try source.status().links == 1 else { return }
      if status.owner != geteuid() { try source.setOwner(status.owner, group: status.group) }
      try source.setPermissions(status.permissions)
    }
  }

  // MARK: The source

  private var sourcePass: ReadPass {
    ReadPass(
      source: source,
      path: path,
      size: expected.size,
      isStillGood: isStillGood,
      checksum: checksum
    )
  }

  private func sourceStatus() throws(LibraryError) -> FileStatus {
    try reading(path) { () throws(SystemError) in
      try store.faults.pass("library.status")
      return try source.status()
    }
  }

  /// The source is still what it was, and nobody wants to write to it.
  private func confirm(_ isSame: (FileIdentity) -> Bool) throws(LibraryError) {
    guard isSame(try sourceStatus().identity), isStillGood() else { throw changed() }
  }

  private func changed() -> LibraryError {
    LibraryError(.sourceChanged, path, detail: "it changed while it was imported")
  }
}

extension ImportedResource {
  fileprivate init(
    _ digest: ContentDigest,
    _ size: Int64,
    _ placement: Placement,
    method: Method
  ) {
    switch placement {
    case .new: self.init(digest: digest, size: size, method: method)
    case .alreadyPresent(let status):
      self.init(digest: digest, size: size, method: .alreadyPresent)
      formerChange = min(status.modified, status.changed)
    case .replaced(let old, let status):
      self.init(digest: digest, size: size, method: method, setAside: old)
      formerChange = min(status.modified, status.changed)
    }
  }
}
