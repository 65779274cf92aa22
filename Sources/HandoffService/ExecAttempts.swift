import HandoffCore
import Synchronization

/// The attempts of one `exec` destination whose processes run now, so that a wish to cancel finds them.
final class ExecAttempts: Sendable {
  private let signals = Mutex<[Handoff.ID: WakeSignal]>([:])

  /// An attempt begins; the signal tells it that somebody wishes its end.
  func begin(_ id: Handoff.ID) -> WakeSignal {
    let signal = WakeSignal()
    signals.withLock { $0[id] = signal }
    return signal
  }

  func end(_ id: Handoff.ID) {
    signals.withLock { $0[id] = nil }
  }

  /// Somebody wishes the end of an attempt; nothing where none runs.
  func wish(_ id: Handoff.ID) {
    signals.withLock { $0[id] }?.signal()
  }
}
