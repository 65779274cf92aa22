import Glibc
import LinuxSystem
import Paths

/// The kernel's lock on a state folder (flock(2)): gone with the process, however it ends.
package final class BrokerLock: Sendable {
  private let file: FileDescriptor

  /// Takes the lock.
  ///
  /// - Throws: ``ServiceError`` with `alreadyRunning` while another broker holds it.
  package init(_ state: StateFolder) throws {
    file = try FileDescriptor.open(state.lock, O_RDWR | O_CREAT, mode: 0o600)
    do {
      try checked("flock", state.lock) { flock(file.rawValue, LOCK_EX | LOCK_NB) }
    } catch {
      guard error.errno == EWOULDBLOCK else { throw error }
      throw ServiceError(
        .alreadyRunning,
        "another broker runs on \(state.path.displayText); `handoff status --json` tells its process (pid)"
      )
    }
  }
}
