import Glibc
import LinuxSystem
package import Paths

/// Makes an empty folder, gives it to a test, and removes it with everything in it.
///
/// Its path is resolved, so it can be compared with what the kernel answers. In memory (/dev/shm, where
/// there is one) is for tests that sync a lot and do not depend on the file system.
nonisolated(nonsending) package func withTemporaryDirectory<Value>(
  inMemory: Bool = false,
  _ body: nonisolated(nonsending) (BytePath) async throws -> Value
) async throws -> Value {
  let path = try makeTemporaryDirectory(inMemory: inMemory)
  defer { removeTree(path) }
  return try await body(path)
}

/// Makes an empty folder that the caller removes with ``removeTree(_:)``.
package func makeTemporaryDirectory(inMemory: Bool = false) throws -> BytePath {
  let configured = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  let root = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : configured
  var template = BytePath(root).appending("handoff-test-XXXXXX").nulTerminated
  guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
  return try Directory.canonical(BytePath(template.map { UInt8(bitPattern: $0) }))
}

/// Removes a folder and everything below it; follows no symbolic link and leaves what cannot be removed.
package func removeTree(_ path: BytePath) {
  do {
    for entry in try Directory.entries(of: path) {
      let inner = path.appending(entry.name)
      if entry.kind == .directory { removeTree(inner) } else { unlink(inner.nulTerminated) }
    }
  } catch {
    print("left behind: \(error)")
  }
  rmdir(path.nulTerminated)
}

/// A fixture could not be made.
package struct TestSupportError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
