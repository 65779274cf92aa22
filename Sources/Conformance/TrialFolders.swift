import Glibc
import LinuxSystem
import Paths
import Synchronization

/// Every folder of a run, so that they can be removed when it is broken off.
final class TrialFolders: Sendable {
  private struct State {
    var made: [BytePath] = []
    var isOver = false
  }

  private let temporary: BytePath
  private let state = Mutex(State())

  /// Makes them below a folder for temporary files.
  init(in temporary: BytePath) {
    self.temporary = temporary
  }

  /// Makes one.
  func make() throws -> BytePath {
    try state.withLock { state in
      if state.isOver { throw CancellationError() }
      var template = temporary.appending("handoff-plugin-test-XXXXXX").nulTerminated
      guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp", temporary) }
      let path = BytePath(template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
      state.made.append(path)
      return try Directory.canonical(path)
    }
  }

  /// From now on none is made.
  func close() {
    state.withLock { $0.isOver = true }
  }

  /// Never returns where the run was broken off: what comes of it then says nothing.
  func restIfAbandoned() async {
    guard state.withLock({ $0.isOver }) else { return }
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    for await _ in stream {}
    continuation.finish()
  }

  /// Removes those that are left.
  func remove() {
    for path in state.withLock({ $0.made }) {
      do {
        if try FileStatus.of(path) != nil { try Directory.removeTree(path) }
      } catch {
        // What the plugin has made unremovable stays in the folder for temporary files.
      }
    }
  }
}
