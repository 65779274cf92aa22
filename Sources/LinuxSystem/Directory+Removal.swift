import Glibc
package import Paths

extension Directory {
  /// Removes a folder with everything in it; symbolic links are removed, not followed.
  ///
  /// Nothing there is no error.
  package static func removeTree(_ path: BytePath) throws(SystemError) {
    guard let status = try FileStatus.of(path) else { return }
    if status.kind == .directory {
      for entry in try entries(of: path) { try removeTree(path.appending(entry.name)) }
      try checked("rmdir", path) { rmdir(path.nulTerminated) }
    } else {
      try checked("unlink", path) { unlink(path.nulTerminated) }
    }
  }
}
