import HandoffProtocol
import LinuxSystem
import Synchronization

/// How far one delivery into an inbox has come, and whether it is still to go on.
///
/// Once it is abandoned nothing gets a name any more; once it is being placed it cannot be abandoned. So
/// what an abandoned delivery has left behind is known: nothing.
final class DeliveryProgress: Sendable {
  /// Why a delivery is not to go on.
  enum Reason: Sendable, Hashable {
    /// The broker stops.
    case stopped
    /// No byte was copied for the destination's `idle`.
    case idle(Duration)
    case ceiling(Duration)
  }

  private enum Phase {
    case copying
    case placing
    case abandoned(Reason)
  }

  private struct State {
    var phase = Phase.copying
    var lastSign = ContinuousClock.now
  }

  private let state = Mutex(State())

  init() {}

  /// More bytes have been copied.
  func touch() {
    state.withLock { $0.lastSign = .now }
  }

  /// The time since the last byte.
  var silence: Duration { state.withLock { $0.lastSign.duration(to: .now) } }

  /// Why it is not to go on; nil while it is.
  var abandonment: Reason? {
    state.withLock { state in
      guard case .abandoned(let reason) = state.phase else { return nil }
      return reason
    }
  }

  /// From here on it gets its name.
  ///
  /// - Returns: false where it was abandoned.
  func beginPlacing() -> Bool {
    state.withLock { state in
      guard case .copying = state.phase else { return false }
      state.phase = .placing
      return true
    }
  }

  /// Ends it, unless it is being placed already; the first reason counts.
  ///
  /// - Returns: whether it is abandoned now.
  @discardableResult
  func abandon(_ reason: Reason) -> Bool {
    state.withLock { state in
      switch state.phase {
      case .copying:
        state.phase = .abandoned(reason)
        return true
      case .abandoned: return true
      case .placing: return false
      }
    }
  }
}

extension DeliveryProgress.Reason {
  /// What is recorded of a delivery that was abandoned.
  var error: ResultError {
    switch self {
    case .stopped:
      ResultError(.interrupted, "the broker is stopping", effect: .none, retry: .later)
    case .idle(let time):
      ResultError(.receiverTimeout, "no byte was copied for \(time)", effect: .none, retry: .later)
    case .ceiling(let time):
      ResultError(
        .receiverTimeout,
        "it was not copied after \(time)",
        effect: .none,
        retry: .later
      )
    }
  }
}
