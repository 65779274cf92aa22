import LinuxSystem
import Synchronization

/// Holds the one process that a test has started.
final class Slot: Sendable {
  private let held = Mutex<SpawnedProcess?>(nil)

  func set(_ process: SpawnedProcess) {
    held.withLock { $0 = process }
  }

  func take() -> SpawnedProcess? {
    held.withLock { held in
      defer { held = nil }
      return held
    }
  }
}
