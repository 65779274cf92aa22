import LinuxSystem
import Synchronization

/// The program that writes the exports.
final class Writers: Sendable {
  private let process: SpawnedProcess
  private let ended = Atomic(false)

  init(_ process: SpawnedProcess) {
    self.process = process
    Task { await watch() }
  }

  var haveEnded: Bool { ended.load(ordering: .acquiring) }

  func exit() async -> ExitStatus { await process.exit() }

  private func watch() async {
    _ = await process.exit()
    ended.store(true, ordering: .releasing)
  }
}
