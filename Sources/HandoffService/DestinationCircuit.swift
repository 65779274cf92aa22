import HandoffCore
import HandoffProtocol
import Synchronization

/// The circuit of one destination whose receiver is not kept running by the broker.
final class DestinationCircuit: Sendable {
  /// It is open.
  struct Opening: Sendable {
    let reason: String
    let until: Timestamp
  }

  private struct State {
    var breaker = CircuitBreaker()
    var opening: Opening?
  }

  private let state = Mutex(State())
  private let start = ContinuousClock.now
  private let now: @Sendable () -> Timestamp

  init(now: @escaping @Sendable () -> Timestamp) {
    self.now = now
  }

  /// How many handoffs may be tried now.
  var permit: CircuitBreaker.Permit {
    let elapsed = start.duration(to: .now)
    return state.withLock { $0.breaker.permit(at: elapsed) }
  }

  /// Takes in how an attempt ended, and shows the circuit where it is open.
  ///
  /// - Parameters:
  ///   - error: nil where it did not fail.
  ///   - id: whose attempt.
  ///   - health: shows it; what it says of the attempt itself has been set before.
  func note(_ error: ResultError?, of id: Handoff.ID, in health: DestinationHealth) {
    let elapsed = start.duration(to: .now)
    let moment = now()
    let opening = state.withLock { state in
      if let error, error.foundNobody {
        if let rest = state.breaker.failed(id, at: elapsed) {
          state.opening = Opening(reason: error.message, until: moment.advanced(by: rest))
        }
      } else if error.map({ !Self.doubtful.contains($0.code) }) ?? true {
        state.breaker.reached()
        state.opening = nil
      }
      return state.opening
    }
    if let opening { health.set(.circuitOpen(opening.reason), until: opening.until) }
  }

  /// Shows an open circuit; false where it is not open.
  func show(in health: DestinationHealth) -> Bool {
    guard let opening = state.withLock(\.opening) else { return false }
    health.set(.circuitOpen(opening.reason), until: opening.until)
    return true
  }

  /// Of these nobody knows whether the receiver was there.
  private static let doubtful: Set<ErrorCode> = [
    .network, .receiverCrashed, .receiverTimeout, .destinationUnavailable, .interrupted,
  ]
}

extension HandoffResult {
  /// How an attempt failed; nil where it did not.
  var error: ResultError? {
    guard case .failure(let error) = outcome else { return nil }
    return error
  }
}
