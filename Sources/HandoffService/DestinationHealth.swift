import HandoffCore
import HandoffProtocol
import Synchronization

/// How one destination is, for `status`.
final class DestinationHealth: Sendable {
  enum Condition: Sendable {
    case starting
    case up
    case down(String)
    /// There is no protocol version in common: handoffs are refused with this error.
    case incompatible(ResultError)
    case circuitOpen(String)
  }

  private struct State {
    var condition = Condition.starting
    var containment = "not started"
    var until: Timestamp?
  }

  let name: DestinationName
  let inFlight = Counter()
  private let state = Mutex(State())
  private let observer: @Sendable (Condition) -> Void

  /// - Parameters:
  ///   - name: the destination's.
  ///   - observer: hears of each condition; must not block.
  init(_ name: DestinationName, observer: @escaping @Sendable (Condition) -> Void = { _ in }) {
    self.name = name
    self.observer = observer
  }

  var condition: Condition { state.withLock(\.condition) }
  var containment: String { state.withLock(\.containment) }

  /// When it is tried again, where it is not up and that is known.
  var until: Timestamp? { state.withLock(\.until) }

  func set(_ condition: Condition, until: Timestamp? = nil) {
    state.withLock { state in
      state.condition = condition
      state.until = until
    }
    observer(condition)
  }

  func setContainment(_ containment: String) {
    state.withLock { $0.containment = containment }
  }

  /// The word of CONTRACT.md and what stands behind it.
  var shown: (status: String, detail: String?) {
    switch condition {
    case .starting: ("down", "starting")
    case .up: ("up", nil)
    case .down(let reason): ("down", reason)
    case .incompatible(let error): ("down", error.message)
    case .circuitOpen(let reason): ("circuit_open", reason)
    }
  }
}

extension DestinationStanding {
  /// Adds how the receiver is.
  mutating func take(_ health: DestinationHealth) {
    let shown = health.shown
    condition =
      switch health.condition {
      case .up: .up
      case .circuitOpen: .circuitOpen
      // What is handed off there is refused, and waits for nothing.
      case .incompatible: .up
      case .starting, .down: .down
      }
    detail = shown.detail
    until = health.until
  }
}
