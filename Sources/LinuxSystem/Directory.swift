import CLinux
import Glibc
package import Paths

/// Folders: listing and making them.
package enum Directory {
  /// One name in a folder.
  package struct Entry: Hashable, Sendable {
    package let name: BytePath
    /// Of the entry itself, never of what a symbolic link leads to.
    package let kind: FileStatus.Kind

    package init(name: BytePath, kind: FileStatus.Kind) {
      self.name = name
      self.kind = kind
    }
  }

  /// Everything in a folder but `.` and `..`, in no order.
  ///
  /// A symbolic link to a folder is refused with `ENOTDIR` or `ELOOP`.
  package static func entries(of path: BytePath) throws(SystemError) -> [Entry] {
    let folder = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    return try entries(of: folder, path)
  }

  /// Everything in an open folder but `.` and `..`, in no order; the path is for errors.
  package static func entries(
    of folder: FileDescriptor,
    _ path: BytePath? = nil
  ) throws(SystemError) -> [Entry] {
    // A descriptor of its own, because closedir closes it and the position is its own.
    let copy = try FileDescriptor.open(".", O_RDONLY | O_DIRECTORY, in: folder)
    guard let stream = fdopendir(copy.rawValue) else { throw .last("fdopendir", path) }
    _ = copy.release()
    defer { closedir(stream) }
    var entries: [Entry] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .last("readdir", path) }
        return entries
      }
      let name = Self.name(entry)
      if name == "." || name == ".." { continue }
      guard let kind = try kind(entry.pointee.d_type, name, folder) else { continue }
      entries.append(Entry(name: name, kind: kind))
    }
  }

  private static func name(_ entry: UnsafeMutablePointer<dirent>) -> BytePath {
    let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    let start = UnsafeRawPointer(entry).advanced(by: offset)
    let length = strlen(start.assumingMemoryBound(to: CChar.self))
    return BytePath(UnsafeRawBufferPointer(start: start, count: length))
  }

  /// The kind by d_type, or by a look where the file system does not say; nil if it is gone by now.
  private static func kind(
    _ type: UInt8,
    _ name: BytePath,
    _ folder: FileDescriptor
  ) throws(SystemError) -> FileStatus.Kind? {
    switch Int(type) {
    case Int(DT_REG): return .regular
    case Int(DT_DIR): return .directory
    case Int(DT_LNK): return .symbolicLink
    case Int(DT_UNKNOWN): return try FileStatus.of(name, in: folder)?.kind
    default: return .other
    }
  }

  /// Makes a folder and those above it that are missing; one that is there already is fine.
  package static func create(_ path: BytePath, permissions: UInt32 = 0o755) throws(SystemError) {
    guard mkdir(path.nulTerminated, permissions) == -1 else { return }
    let error = SystemError.last("mkdir", path)
    switch error.errno {
    case EEXIST:
      guard try FileStatus.of(path, following: true)?.kind == .directory else { throw error }
    case ENOENT where !path.parent.isEmpty && path.parent != path:
      try create(path.parent, permissions: permissions)
      guard mkdir(path.nulTerminated, permissions) == -1, errno != EEXIST else { return }
      throw .last("mkdir", path)
    default:
      throw error
    }
  }

  /// Makes a folder and those above it that are missing, and waits until their names are on the disk.
  ///
  /// Also for one that is there already: who made it may have died before its name was on the disk, and a
  /// power cut would then take everything in it. A folder above that may not be read is somebody else's,
  /// and so is the name in it.
  package static func createDurably(
    _ path: BytePath,
    permissions: UInt32 = 0o755
  ) throws(SystemError) {
    let above = path.parent.isEmpty ? "." : path.parent
    if try FileStatus.of(above, following: true) == nil, above != path {
      try createDurably(above, permissions: permissions)
    }
    try create(path, permissions: permissions)
    do {
      try sync(above)
    } catch  where error.errno == EACCES {
      return
    }
  }

  /// The absolute path without symbolic links, `.` and `..`; see realpath(3).
  package static func canonical(_ path: BytePath) throws(SystemError) -> BytePath {
    guard let resolved = realpath(path.nulTerminated, nil) else { throw .last("realpath", path) }
    defer { free(resolved) }
    return BytePath(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
  }

  /// Waits until the names in a folder are on the disk; see fsync(2).
  package static func sync(_ path: BytePath) throws(SystemError) {
    try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY).sync()
  }
}

extension FileStatus {
  /// What is at a path; nil if nothing is.
  package static func of(
    _ path: BytePath,
    in folder: FileDescriptor? = nil,
    following: Bool = false
  ) throws(SystemError) -> FileStatus? {
    var status = stat()
    let flags = following ? 0 : AT_SYMLINK_NOFOLLOW
    do {
      try checked("fstatat", path) {
        fstatat(folder?.rawValue ?? AT_FDCWD, path.nulTerminated, &status, flags)
      }
    } catch  where error.errno == ENOENT || error.errno == ENOTDIR {
      return nil
    }
    return FileStatus(status)
  }
}
