import LinuxSystem
import Synchronization

/// A program that writes exports, and whether it has ended.
final class WatchedProcess: Sendable {
  private let process: SpawnedProcess
  private let ended = Atomic(false)

  init(_ process: SpawnedProcess) {
    self.process = process
    Task { await watch() }
  }

  var hasEnded: Bool { ended.load(ordering: .acquiring) }

  func exit() async -> ExitStatus { await process.exit() }

  private func watch() async {
    _ = await process.exit()
    ended.store(true, ordering: .releasing)
  }
}
