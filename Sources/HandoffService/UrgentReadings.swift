import HandoffProtocol
import Synchronization

/// Assets whose object has to be read before it is handed off, in the order of asking.
final class UrgentReadings: Sendable {
  private let waiting = Mutex<[LocalIdentifier]>([])
  let signal = WakeSignal()

  /// Asks for a reading; asking again while it waits or runs changes nothing.
  func ask(for identifier: LocalIdentifier) {
    waiting.withLock { waiting in
      if !waiting.contains(identifier) { waiting.append(identifier) }
    }
    signal.signal()
  }

  var first: LocalIdentifier? { waiting.withLock(\.first) }

  func done(_ identifier: LocalIdentifier) {
    waiting.withLock { $0.removeAll { $0 == identifier } }
  }
}
