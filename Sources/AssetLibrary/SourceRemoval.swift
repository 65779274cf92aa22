import Glibc
import LinuxSystem
import Paths

/// Removes a source if its name still leads to the inode that was imported.
///
/// No system call removes a name only if it leads to a given inode, and an exporter may put a new
/// export under the name between a look and an unlink(2). So the name is first changed to one that
/// nobody else uses, then looked at, and only then removed; what turns out to be another file gets its
/// name back. The window that remains is harmless: for some microseconds a new export has a dot name,
/// which is a temporary name to every watcher.
///
/// The dot name is made of the inode's number: after a crash in between, the next call finds it.
struct SourceRemoval: Sendable {
  let path: BytePath
  let identity: FileIdentity

  func run() throws(LibraryError) -> Bool {
    do throws(SystemError) {
      return try remove()
    } catch let error where error.errno == ENOENT || error.errno == ENOTDIR {
      return false
    } catch {
      throw LibraryError(reading: error, from: path)
    }
  }

  private var asideName: BytePath {
    BytePath(".handoff-remove-\(String(identity.device, radix: 16))-\(identity.inode)")
  }

  private func remove() throws(SystemError) -> Bool {
    let parent = path.parent.isEmpty ? "." : path.parent
    let folder = try FileDescriptor.open(parent, O_RDONLY | O_DIRECTORY)
    let name = path.lastComponent
    // An earlier call may have been interrupted here.
    if try identity.isOf(asideName, in: folder) { return try unlink(asideName, in: folder) }
    guard try identity.isOf(name, in: folder) else { return false }
    try DurableFile.renameNoReplace(name, in: folder, to: asideName, in: folder)
    if try identity.isOf(asideName, in: folder) { return try unlink(asideName, in: folder) }
    // Another export took the name after the look: it gets it back. If yet another is there by now,
    // EEXIST tells the operator the dot name under which the former stays.
    try DurableFile.renameNoReplace(asideName, in: folder, to: name, in: folder)
    return false
  }

  private func unlink(_ name: BytePath, in folder: FileDescriptor) throws(SystemError) -> Bool {
    let removed = try DurableFile.unlink(name, in: folder)
    try folder.sync()
    return removed
  }
}

extension FileIdentity {
  /// The name leads to the file of this identity, with the same content; a symbolic link never does.
  func isOf(_ name: BytePath, in folder: FileDescriptor? = nil) throws(SystemError) -> Bool {
    guard let status = try FileStatus.of(name, in: folder), status.kind == .regular else {
      return false
    }
    return status.identity.hasSameContent(as: self)
  }
}
