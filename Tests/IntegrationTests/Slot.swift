import LinuxSystem
import Synchronization

/// Holds the one process that a test has started.
final class Slot: Sendable {
  private let process = Mutex<SpawnedProcess?>(nil)

  func set(_ process: SpawnedProcess) {
    self.process.withLock { $0 = process }
  }

  var held: SpawnedProcess? { process.withLock { $0 } }

  func take() -> SpawnedProcess? {
    process.withLock { process in
      defer { process = nil }
      return process
    }
  }
}
