import Glibc
import LinuxSystem
package import Paths

/// A folder that is removed with everything in it when the test lets go of it.
package final class TemporaryFolder: Sendable {
  package let path: BytePath

  package init() throws {
    path = try makeTemporaryDirectory()
  }

  deinit {
    removeTree(path)
  }

  /// Writes a file of a name and returns its path.
  package func write(_ text: String, to name: BytePath) throws -> BytePath {
    let file = path.appending(name)
    try FileDescriptor.open(file, O_WRONLY | O_CREAT | O_TRUNC).write(Array(text.utf8))
    return file
  }
}
