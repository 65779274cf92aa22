package import HandoffProtocol

/// Leaves a destination alone that fails with everything: after several failures in a row, of several
/// handoffs, nothing is tried there for a while; then one handoff at a time, until one gets through.
///
/// Each handoff's own waits come besides. One handoff that fails again and again is no reason: its own
/// waits are enough.
package struct CircuitBreaker: Sendable {
  /// How many handoffs may be tried now.
  package enum Permit: Hashable, Sendable {
    case any
    /// One, to see whether the destination is back.
    case one
    /// None, for so long.
    case none(Duration)
  }

  /// So many failures in a row open it, if they are of so many handoffs.
  package static let failures = 5
  package static let handoffs = 3
  /// The first rest; each further one is twice as long.
  package static let firstRest: Duration = .seconds(5)
  package static let longestRest: Duration = .seconds(300)

  private var failureCount = 0
  private var failed: Set<Handoff.ID> = []
  private var rest: Duration?
  private var openUntil: Duration?

  package init() {}

  /// It is open, or one handoff is tried to see whether it may be closed.
  package var isOpen: Bool { openUntil != nil }

  /// The destination was reached: whatever it said, it is there.
  package mutating func reached() {
    self = CircuitBreaker()
  }

  /// An attempt found nobody there.
  ///
  /// - Parameters:
  ///   - id: whose attempt.
  ///   - now: of a clock that goes on by itself.
  /// - Returns: how long nothing is tried from now on; nil where the circuit is not opened by it.
  @discardableResult
  package mutating func failed(_ id: Handoff.ID, at now: Duration) -> Duration? {
    failureCount += 1
    if failed.count < Self.handoffs { failed.insert(id) }
    // What was under way when it opened says nothing new.
    if let openUntil, now < openUntil { return nil }
    guard isOpen || (failureCount >= Self.failures && failed.count >= Self.handoffs) else {
      return nil
    }
    let next = min(rest.map { $0 * 2 } ?? Self.firstRest, Self.longestRest)
    rest = next
    openUntil = now + next
    return next
  }

  /// How many handoffs may be tried now.
  package func permit(at now: Duration) -> Permit {
    guard let openUntil else { return .any }
    return now < openUntil ? .none(openUntil - now) : .one
  }
}

extension ResultError {
  /// Nobody was there to take the handoff, and nothing has happened.
  package var foundNobody: Bool {
    guard effect == .none else { return false }
    return [.network, .receiverCrashed, .destinationUnavailable].contains(code)
  }
}
