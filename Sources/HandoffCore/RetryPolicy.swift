/// When a failed attempt with effect `none` is made again: exponentially growing waits with full jitter,
/// bounded by time and not by a count that a one-minute outage uses up.
package struct RetryPolicy: Hashable, Sendable {
  /// From the first attempt on; after it the handoff has failed.
  package var limit: Duration
  /// The longest wait after the first failure.
  package var first: Duration
  /// The longest wait at all.
  package var maximum: Duration
  /// Attempts with effect `unknown` are made again too, because the receiver drops what it has had.
  package var repeatsUnknown = false

  package init(limit: Duration, first: Duration, maximum: Duration) {
    self.limit = limit
    self.first = first
    self.maximum = maximum
  }

  /// The wait before the next attempt, or nil when the time is used up.
  ///
  /// - Parameters:
  ///   - failures: attempts that have failed, at least 1.
  ///   - elapsed: time since the first attempt.
  ///   - jitter: 0 to 1, where in the window the wait lies.
  ///   - floor: what the receiver asked for with `retry_after_s`; it cannot ask for more than `limit`.
  /// - Returns: the wait, more than zero, or nil. The last attempt comes at the end of the time at the
  ///   latest, unless its receiver asked for more patience.
  package func wait(
    failures: Int,
    elapsed: Duration,
    jitter: Double,
    floor: Duration = .zero
  ) -> Duration? {
    guard elapsed < limit else { return nil }
    let doublings = min(max(failures - 1, 0), 30)
    let window = min(first * (1 << doublings), maximum)
    // Full jitter, but never at once: a receiver that fails immediately must not be hammered.
    let wait = min(window * (0.25 + 0.75 * jitter), limit - elapsed)
    return max(wait, min(floor, limit), .milliseconds(1))
  }
}
