import HandoffProtocol
import Synchronization

/// One signal a destination: "look into the ledger now".
final class DispatchSignals: Sendable {
  private let signals: Mutex<[DestinationName: WakeSignal]>

  init(_ destinations: [DestinationName]) {
    signals = Mutex(Dictionary(uniqueKeysWithValues: destinations.map { ($0, WakeSignal()) }))
  }

  subscript(destination: DestinationName) -> WakeSignal? {
    signals.withLock { $0[destination] }
  }

  /// A signal for whoever begins to work for a destination: an earlier one's is nobody's any more.
  func renew(_ destination: DestinationName) {
    signals.withLock { $0[destination] = WakeSignal() }
  }

  /// Nobody works for it any more.
  func remove(_ destination: DestinationName) {
    signals.withLock { $0[destination] = nil }
  }

  /// Destinations that are not configured have nobody to wake; their handoffs wait in the ledger.
  func signal(_ destinations: some Sequence<DestinationName>) {
    let names = Set(destinations)
    let woken = signals.withLock { signals in names.compactMap { signals[$0] } }
    for signal in woken { signal.signal() }
  }
}
