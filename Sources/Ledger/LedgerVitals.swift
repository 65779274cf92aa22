import HandoffLog
package import HandoffProtocol
import LinuxSystem
import SQLite
import Synchronization

/// Whether the ledger can do what it is for, for `handoff status`.
package struct LedgerCondition: Sendable {
  /// Why nothing can be recorded at the moment; nil where it can.
  package let failure: String?
  /// When that began.
  package let failingSince: Timestamp?
  package let log: LogCondition
}

extension Ledger {
  /// How the ledger is now; a log that has become too large is folded on the way.
  package func condition() async -> LedgerCondition {
    let trouble = vitals.trouble
    return LedgerCondition(
      failure: trouble?.text,
      failingSince: trouble?.since,
      log: await vitals.keeper.condition()
    )
  }
}

/// What is remembered of commits that failed, until one is done again.
final class LedgerVitals: Sendable {
  struct Trouble: Sendable {
    let since: Timestamp
    let text: String
  }

  let keeper: LogKeeper
  private let now: @Sendable () -> Timestamp
  private let state = Mutex<Trouble?>(nil)
  private let isFailing = Atomic<Bool>(false)

  init(keeper: LogKeeper, now: @escaping @Sendable () -> Timestamp) {
    self.keeper = keeper
    self.now = now
  }

  var trouble: Trouble? { state.withLock { $0 } }

  /// A transition is durable.
  func succeeded() {
    guard isFailing.exchange(false, ordering: .acquiringAndReleasing) else { return }
    state.withLock { $0 = nil }
  }

  /// A transition was not recorded; what it is refused for by its own content is no trouble of the ledger.
  func failed(_ error: any Error) {
    switch error {
    case let error as SQLiteError where error.mayPass || error.isDamage: note(error)
    case is SystemError, is RollbackFailed: note(error)
    default: break
    }
  }

  private func note(_ error: any Error) {
    let moment = now()
    state.withLock { trouble in
      trouble = Trouble(since: trouble?.since ?? moment, text: "\(error)")
    }
    isFailing.store(true, ordering: .releasing)
  }
}
