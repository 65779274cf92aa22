import HandoffCore
import Synchronization

/// Handoffs that the ledger has ended by itself because of what they were ordered after, until what follows
/// from an end is done for them.
final class EndedByOrder: Sendable {
  private let ids = Mutex<[Handoff.ID]>([])
  let signal = WakeSignal()

  /// Must not block: the ledger calls it.
  func add(_ ended: [Handoff.ID]) {
    ids.withLock { $0 += ended }
    signal.signal()
  }

  /// They could not be looked after yet.
  func giveBack(_ ended: ArraySlice<Handoff.ID>) { ids.withLock { $0 += ended } }

  func take() -> [Handoff.ID] {
    ids.withLock { ids in
      defer { ids = [] }
      return ids
    }
  }
}
