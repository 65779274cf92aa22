import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// What happens in a drop folder.
struct DropFiles: Sendable {
  let folder: BytePath

  func write(_ text: String, to name: BytePath) throws {
    let file = try FileDescriptor.open(
      folder.appending(name),
      O_WRONLY | O_CREAT | O_TRUNC,
      mode: 0o644
    )
    try file.write(Array(text.utf8))
    try file.close()
  }

  func makeFolder(_ name: BytePath) throws {
    try Directory.create(folder.appending(name))
  }

  func rename(_ name: BytePath, to other: BytePath) throws {
    try DurableFile.rename(folder.appending(name), to: folder.appending(other))
  }

  /// A directory with all that is in it.
  func remove(_ name: BytePath) {
    removeTree(folder.appending(name))
  }

  func removeFile(_ name: BytePath) {
    Glibc.unlink(folder.appending(name).nulTerminated)
  }

  /// Much of it, away from the cooperative pool.
  nonisolated(nonsending) func busy<Value: Sendable>(
    _ work: @escaping @Sendable (DropFiles) throws -> Value
  ) async throws -> Value {
    try await BlockingThread("test.writer").run { try work(self) }
  }
}
