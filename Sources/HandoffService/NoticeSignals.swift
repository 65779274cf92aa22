import HandoffProtocol
import Synchronization

/// One signal a callback id: "there may be notices to bring".
final class NoticeSignals: Sendable {
  private let signals: Mutex<[CallbackID: WakeSignal]>

  init(_ callbacks: some Sequence<CallbackID>) {
    signals = Mutex(Dictionary(callbacks.map { ($0, WakeSignal()) }) { first, _ in first })
  }

  subscript(callback: CallbackID) -> WakeSignal? { signals.withLock { $0[callback] } }

  /// A signal for whoever begins to work for a callback: an earlier one's is nobody's any more.
  func renew(_ callback: CallbackID) { signals.withLock { $0[callback] = WakeSignal() } }

  /// Nobody works for it any more.
  func remove(_ callback: CallbackID) { signals.withLock { $0[callback] = nil } }

  /// Ids that are not configured have nobody to wake; their notices wait in the ledger.
  func signal(_ callbacks: Set<CallbackID>) {
    let woken = signals.withLock { signals in callbacks.compactMap { signals[$0] } }
    for signal in woken { signal.signal() }
  }
}
