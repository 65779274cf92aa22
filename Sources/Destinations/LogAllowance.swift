import Synchronization

/// How much of what a receiver prints or says goes to the broker's log: some lines at once, and then a
/// steady few, so that no receiver fills a disk.
final class LogAllowance: Sendable {
  private struct State {
    var bytes = LogAllowance.burst
    var last: ContinuousClock.Instant?
    var omitted = 0
  }

  private let state = Mutex(State())
  /// What a line costs besides its text: its time, and the names of its fields.
  private static let lineCost = 200
  private static let burst = 65_536
  private static let bytesPerSecond = 2048

  /// Takes a line from the allowance.
  ///
  /// - Returns: how many lines were left out before this one; nil where this one is left out too.
  func take(_ size: Int, now: ContinuousClock.Instant) -> Int? {
    state.withLock { state in
      let elapsed = state.last.map { $0.duration(to: now) } ?? .zero
      let refill = Double(Self.bytesPerSecond) * (elapsed / .seconds(1))
      // The moment moves only when something was added: many short times are not nothing.
      if refill >= 1 || state.last == nil {
        state.bytes = min(state.bytes + Int(min(refill, Double(Self.burst))), Self.burst)
        state.last = now
      }
      guard state.bytes >= size + Self.lineCost else {
        state.omitted += 1
        return nil
      }
      state.bytes -= size + Self.lineCost
      defer { state.omitted = 0 }
      return state.omitted
    }
  }
}
