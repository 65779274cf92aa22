import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// The folder of a copy below the archive's own: made, and given names in, so that a power cut takes neither.
struct CopyFolder {
  /// The archive's own.
  let root: BytePath
  let path: BytePath

  /// Makes what is missing.
  ///
  /// One by one, so that a link in between is found: only real folders below the root. Names that are there
  /// are synced all the same, since who made them may have died before that.
  func make() throws {
    try make(root, isRoot: true)
    var folder = root
    for step in path.relative(to: root)?.components ?? [] {
      folder = folder.appending(step)
      try make(folder, isRoot: false)
    }
  }

  private func make(_ folder: BytePath, isRoot: Bool) throws {
    if mkdir(folder.nulTerminated, 0o755) == -1 {
      let error = SystemError.last("mkdir", folder)
      guard let found = try FileStatus.of(folder, following: isRoot) else { throw error }
      guard found.kind == .directory else {
        throw ResultError(
          .destinationUnavailable,
          "\(folder.displayText) is no folder, and what is below it is not written through links",
          effect: .none,
          retry: .afterFix,
          remedy: "Move it away, or mount a folder there."
        )
      }
    }
    do throws(SystemError) {
      try Directory.sync(folder.parent)
    } catch {
      // What is above the archive is somebody else's.
      guard isRoot, error.errno == EACCES else { throw error }
    }
  }

  /// Gives the temporary file its name; false if somebody has taken it meanwhile.
  func publish(_ temporary: BytePath, as path: BytePath) throws -> Bool {
    do throws(SystemError) {
      try giveName(temporary, path)
    } catch  where error.errno == EEXIST {
      return false
    }
    try sync()
    return true
  }

  /// Waits until its names are on the disk.
  func sync() throws(SystemError) {
    try Directory.sync(path)
  }

  private func giveName(_ temporary: BytePath, _ path: BytePath) throws(SystemError) {
    do throws(SystemError) {
      return try DurableFile.renameNoReplace(temporary, to: path)
    } catch  where error.errno == EINVAL || error.errno == ENOSYS {
      // A file system without renameat2: a second name does not replace either.
    }
    do throws(SystemError) {
      try DurableFile.link(temporary, to: path)
      try DurableFile.unlink(temporary)
    } catch  where [EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EIO].contains(error.errno) {
      // Nor with second names, as LTFS (EIO is rclone's word for it): what is left is a look and a rename,
      // one right after the other.
      guard try FileStatus.of(path) == nil else { throw SystemError(EEXIST, "rename", path) }
      try DurableFile.rename(temporary, to: path)
    }
  }
}
