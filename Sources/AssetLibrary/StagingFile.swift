import Glibc
import HandoffLog
import LinuxSystem
import Paths

/// A file in `staging`, under a name of its own, until it is renamed or discarded.
struct StagingFile: Sendable {
  let path: BytePath
  /// Open for reading and writing where the library made it; the source's own where it was taken.
  let file: FileDescriptor

  /// Makes an empty file and locks it (flock(2)), which tells every sweep that it is in use.
  static func make(
    _ kind: StagingKind,
    in layout: StoreLayout,
    faults: FaultPlan
  ) throws(LibraryError) -> StagingFile {
    let path = layout.newStaging(kind)
    return try storing(path) { () throws(SystemError) in
      try faults.pass("library.stage")
      let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      try checked("flock", path) { flock(file.rawValue, LOCK_EX | LOCK_NB) }
      return StagingFile(path: path, file: file)
    }
  }

  /// Gives an open file a second name in `staging`; nil where that cannot be.
  ///
  /// The inode is named by its descriptor, so it is the one that was judged, whatever has become of
  /// the path meanwhile; see linkat(2), `AT_SYMLINK_FOLLOW` with /proc/self/fd.
  static func link(
    _ source: FileDescriptor,
    in layout: StoreLayout,
    faults: FaultPlan
  ) throws(LibraryError) -> StagingFile? {
    let path = layout.newStaging(.import)
    let descriptor = BytePath("/proc/self/fd/\(source.rawValue)")
    return try storing(path) { () throws(SystemError) in
      try faults.pass("library.link")
      do throws(SystemError) {
        try checked("linkat", path) {
          linkat(
            AT_FDCWD,
            descriptor.nulTerminated,
            AT_FDCWD,
            path.nulTerminated,
            AT_SYMLINK_FOLLOW
          )
        }
      } catch let error
        where [EPERM, EXDEV, EMLINK, EOPNOTSUPP, ENOENT, EACCES].contains(error.errno)
      {
        return nil
      }
      return StagingFile(path: path, file: source)
    }
  }

  /// Makes it read-only and waits until its bytes are on the disk.
  func seal(faults: FaultPlan) throws(LibraryError) {
    try storing(path) { () throws(SystemError) in
      try faults.pass("library.chmod")
      try file.setPermissions(0o444)
      try faults.pass("library.fsync")
      try file.sync()
    }
  }

  /// Removes the name, unless it has been renamed away.
  ///
  /// A failure leaves it to the sweep at the next start.
  func discard(faults: FaultPlan, logger: Logger) {
    logger.logged("A staging file could not be removed.") {
      try faults.pass("library.unstage")
      try DurableFile.unlink(path)
    }
  }

  /// Removes what earlier runs have left: only the library's own names, and only those that nobody
  /// has locked.
  static func sweep(_ layout: StoreLayout) throws(LibraryError) -> Int {
    try storing(layout.staging) { () throws(SystemError) in
      var count = 0
      for entry in try Directory.entries(of: layout.staging)
      where entry.kind == .regular && StoreLayout.isStagingName(entry.name) {
        let path = layout.staging.appending(entry.name)
        let file: FileDescriptor
        do throws(SystemError) {
          file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch let error where error.errno == ENOENT {
          continue
        }
        guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { continue }
        if try DurableFile.unlink(path) { count += 1 }
      }
      return count
    }
  }
}
