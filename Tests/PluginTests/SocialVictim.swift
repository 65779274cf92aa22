import Glibc
import LinuxSystem
import Synchronization

/// The first process that it is aimed at, killed at most once.
final class SocialVictim: Sendable {
  private enum State {
    case nobody
    case aimed(SpawnedProcess)
    case killed
  }

  private let state = Mutex(State.nobody)

  func aim(at process: SpawnedProcess) {
    state.withLock { state in
      if case .nobody = state { state = .aimed(process) }
    }
  }

  func kill() {
    state.withLock { state in
      guard case .aimed(let process) = state else { return }
      process.signalGroup(SIGKILL)
      state = .killed
    }
  }
}
