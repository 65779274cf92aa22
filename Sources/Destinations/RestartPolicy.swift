/// When a plugin that ended by itself is started again, and when no more: pure, without a clock.
///
/// A plugin that lived for a while is started again soon. One that ends again and again is given
/// exponentially more time, and after a number of such ends its circuit opens for a longer while; then
/// one more start is tried.
package struct RestartPolicy: Hashable, Sendable {
  /// What to do after an end.
  package enum Decision: Hashable, Sendable {
    case restart(after: Duration)
    /// The circuit is open: nothing is started for this time.
    case openCircuit(for: Duration)
  }

  /// The first wait.
  package var first: Duration
  /// The longest wait before the circuit opens.
  package var maximum: Duration
  /// Ends in a row that open the circuit.
  package var limit: Int
  /// How long the circuit stays open.
  package var rest: Duration
  /// Who lived as long as this has not failed at the start.
  package var stableLife: Duration
  /// Short lives in a row.
  package private(set) var failures = 0

  package init(
    first: Duration = .milliseconds(500),
    maximum: Duration = .seconds(60),
    limit: Int = 5,
    rest: Duration = .seconds(300),
    stableLife: Duration = .seconds(60)
  ) {
    self.first = first
    self.maximum = maximum
    self.limit = limit
    self.rest = rest
    self.stableLife = stableLife
  }

  /// Decides after an end; the jitter, 0 to 1, spreads plugins that ended together.
  package mutating func ended(lifetime: Duration, jitter: Double) -> Decision {
    failures = lifetime >= stableLife ? 1 : failures + 1
    if failures >= limit {
      // One short life after the rest opens it again.
      failures = limit - 1
      return .openCircuit(for: rest)
    }
    let window = min(first * (1 << min(failures - 1, 20)), maximum)
    return .restart(after: window * (0.5 + 0.5 * jitter))
  }

  /// Forgets all failures: a person has asked for it, or the configuration has changed.
  package mutating func reset() {
    failures = 0
  }
}
