import Glibc
import LinuxSystem
import Paths

/// An open inbox: everything in it is named below its descriptor, and no symbolic link is followed.
///
/// Blocks.
struct InboxFolder {
  /// For errors and outputs.
  let path: BytePath
  let folder: FileDescriptor

  /// What is staged: a video, or a folder of several.
  static let content: BytePath = "content"
  static let manifest: BytePath = "manifest"

  /// Opens it; its last part is made where it is missing, never those above it, which may be a mount's.
  init(_ path: BytePath) throws(SystemError) {
    if mkdir(path.nulTerminated, 0o755) == -1, errno != EEXIST {
      throw .last("mkdir", path)
    }
    try self.init(existing: path)
  }

  /// Opens one that is there.
  init(existing path: BytePath) throws(SystemError) {
    self.path = path
    folder = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
  }

  func makeFolder(
    _ name: BytePath,
    in parent: FileDescriptor,
    permissions: UInt32
  ) throws(SystemError) -> FileDescriptor {
    try checked("mkdirat", name) { mkdirat(parent.rawValue, name.nulTerminated, permissions) }
    return try open(name, in: parent)
  }

  func open(_ name: BytePath, in parent: FileDescriptor) throws(SystemError) -> FileDescriptor {
    try FileDescriptor.open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, in: parent)
  }

  /// Nothing has a name.
  func isFree(_ name: BytePath) throws(SystemError) -> Bool {
    try FileStatus.of(name, in: folder) == nil
  }

  /// Removes a name with all that is below it; nothing there is no error.
  func remove(_ name: BytePath, in parent: FileDescriptor) throws(SystemError) {
    guard let status = try FileStatus.of(name, in: parent) else { return }
    guard status.kind == .directory else {
      try DurableFile.unlink(name, in: parent)
      return
    }
    let inner = try open(name, in: parent)
    for entry in try Directory.entries(of: inner) { try remove(entry.name, in: inner) }
    try checked("unlinkat", name) { unlinkat(parent.rawValue, name.nulTerminated, AT_REMOVEDIR) }
  }
}
