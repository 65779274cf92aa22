import Glibc
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
  guard mkdtemp(&template) != nil, let resolved = realpath(template, nil) else {
    throw TestSupportError("mkdtemp: errno \(errno)")
  }
  defer { free(resolved) }
  return BytePath(String(cString: resolved))
}

/// Removes a folder and everything below it, also what is read-only; follows no symbolic link and
/// leaves what cannot be removed.
package func removeTree(_ path: BytePath) {
  if let stream = opendir(path.nulTerminated) {
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: UInt8.self, capacity: 256) { bytes in
          BytePath(UnsafeBufferPointer(start: bytes, count: 256))
        }
      }
      if name == "." || name == ".." { continue }
      let child = path.appending(name)
      var status = stat()
      guard lstat(child.nulTerminated, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        removeTree(child)
      } else {
        unlink(child.nulTerminated)
      }
    }
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
