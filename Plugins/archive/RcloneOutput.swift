import LinuxSystem
import Synchronization

/// Everything that a child writes to a pipe, up to a limit, and the pipe's end.
final class RcloneOutput: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var hasEnded = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: in bytes; what comes after it is dropped.
  init(limit: Int) {
    self.limit = limit
  }

  /// All of it; nil if there was more than the limit.
  var whole: [UInt8]? { state.withLock { $0.bytes.count > limit ? nil : $0.bytes } }

  /// Takes the next piece.
  func take(_ bytes: [UInt8]) {
    state.withLock { state in
      // One byte more than the limit says that there was more.
      state.bytes += bytes.prefix(max(0, limit + 1 - state.bytes.count))
    }
  }

  /// Nothing comes any more.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      let waiting = state.waiting
      state.waiting = nil
      return waiting
    }?.resume()
  }

  /// Waits for the end; for one caller.
  func ended() async {
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        if !state.hasEnded { state.waiting = continuation }
        return state.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
  }
}
