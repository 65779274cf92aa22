import CLinux
import Glibc
package import Paths

/// What keeps a file's name and bytes over a crash.
///
/// Every call is a point of the ``FaultPlan``.
package enum DurableFile {
  /// Renames without replacing: `EEXIST` if the new name is taken; see renameat2(2).
  package static func renameNoReplace(
    _ from: BytePath,
    in fromFolder: FileDescriptor? = nil,
    to: BytePath,
    in toFolder: FileDescriptor? = nil
  ) throws(SystemError) {
    try FaultPlan.current.pass("rename")
    try checked("renameat2", to) {
      clinux_rename_no_replace(
        fromFolder?.rawValue ?? AT_FDCWD,
        from.nulTerminated,
        toFolder?.rawValue ?? AT_FDCWD,
        to.nulTerminated
      )
    }
  }

  /// Renames, and replaces what is there.
  package static func rename(_ from: BytePath, to: BytePath) throws(SystemError) {
    try FaultPlan.current.pass("rename")
    try checked("rename", to) { Glibc.rename(from.nulTerminated, to.nulTerminated) }
  }

  /// Makes a second name for a file; `EEXIST` if it is taken.
  package static func link(_ from: BytePath, to: BytePath) throws(SystemError) {
    try FaultPlan.current.pass("link")
    try checked("link", to) { Glibc.link(from.nulTerminated, to.nulTerminated) }
  }

  /// Removes a name; false if it was not there.
  @discardableResult
  package static func unlink(
    _ path: BytePath,
    in folder: FileDescriptor? = nil
  ) throws(SystemError) -> Bool {
    try FaultPlan.current.pass("unlink")
    do {
      try checked("unlink", path) { unlinkat(folder?.rawValue ?? AT_FDCWD, path.nulTerminated, 0) }
      return true
    } catch  where error.errno == ENOENT {
      return false
    }
  }

  /// Writes a whole small file so that a crash leaves the old or the new bytes: a temporary name
  /// beside it, fsync, rename, fsync of the folder.
  package static func write(
    _ bytes: [UInt8],
    to path: BytePath,
    permissions: UInt32 = 0o600
  ) throws(SystemError) {
    let temporary = path.parent.appending(".\(getpid()).\(clinux_thread_id()).tmp")
    let file = try FileDescriptor.open(
      temporary,
      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
      mode: permissions
    )
    do {
      try file.write(bytes)
      try checked("fchmod", temporary) { fchmod(file.rawValue, permissions) }
      try file.sync()
      try file.close()
      try rename(temporary, to: path)
    } catch {
      // The first failure is the one to tell; a leftover temporary file harms nothing.
      _ = Glibc.unlink(temporary.nulTerminated)
      throw error
    }
    try Directory.sync(path.parent.isEmpty ? "." : path.parent)
  }

  /// Shares the bytes of another file (`FICLONE`); `EOPNOTSUPP` or `EXDEV` where that is not possible.
  package static func clone(
    from source: FileDescriptor,
    to target: FileDescriptor
  ) throws(SystemError) {
    try checked("ioctl FICLONE") { clinux_clone(target.rawValue, source.rawValue) }
  }
}

extension FileDescriptor {
  /// Opens a file below a folder without following any symbolic link and without leaving the folder.
  ///
  /// See openat2(2). `ELOOP` and `EXDEV` mean that the path tried to.
  package static func openBeneath(
    _ path: BytePath,
    _ flags: CInt,
    mode: UInt32 = 0o600,
    in folder: FileDescriptor
  ) throws(SystemError) -> FileDescriptor {
    var attempts = 0
    while true {
      let number = clinux_open_beneath(folder.rawValue, path.nulTerminated, flags | O_CLOEXEC, mode)
      if number >= 0 { return FileDescriptor(owning: number) }
      let error = SystemError.last("openat2", path)
      attempts += 1
      // The kernel gives up when something is renamed meanwhile, and asks to try again.
      let isRace = error.errno == EINTR || error.errno == EAGAIN && flags & O_NONBLOCK == 0
      guard isRace, attempts < 32 else { throw error }
    }
  }

  /// Where the first hole at or after an offset begins; the end of the file counts as one.
  ///
  /// Moves the file position. See lseek(2), `SEEK_HOLE`.
  package func firstHole(from offset: Int64 = 0) throws(SystemError) -> Int64 {
    try checked("lseek") { clinux_first_hole(rawValue, offset) }
  }

  /// Where the next data at or after an offset begins; nil if only a hole follows.
  ///
  /// Moves the file position. See lseek(2), `SEEK_DATA`.
  package func nextData(from offset: Int64) throws(SystemError) -> Int64? {
    do {
      return try checked("lseek") { clinux_next_data(rawValue, offset) }
    } catch  where error.errno == ENXIO {
      return nil
    }
  }

  /// The kind of the file system that the file is on.
  package func fileSystem() throws(SystemError) -> FileSystemKind {
    var magic: Int64 = 0
    try checked("fstatfs") { clinux_file_system_magic(rawValue, &magic) }
    return FileSystemKind(magic: magic)
  }
}
