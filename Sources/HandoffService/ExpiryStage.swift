import HandoffLog
import HandoffProtocol
import Ledger
import Synchronization

/// Expires what is past its moment, frees claims that ran out, and has tokens of ended handoffs forgotten;
/// looks after what the ledger has ended by itself.
///
/// It looks at the wall clock once in every interval of the boot clock, which goes on while the machine is
/// suspended: neither a clock that is set nor a suspension delays it by more.
final class ExpiryStage: Sendable {
  private let ledger: Ledger
  private let results: ResultStage
  private let ended: EndedByOrder
  private let logger: Logger
  private let now: @Sendable () -> Timestamp
  private let isFinished = Atomic(false)
  private var signal: WakeSignal { ended.signal }

  /// How late an expiry may be noticed.
  static let interval: Duration = .seconds(5)
  /// For so long after its end a handoff's grant and token can still be named to who asks for them.
  static let memory: Duration = .seconds(3600)

  init(
    ledger: Ledger,
    results: ResultStage,
    ended: EndedByOrder,
    logger: Logger,
    now: @escaping @Sendable () -> Timestamp = SystemClock.now
  ) {
    self.ledger = ledger
    self.ended = ended
    self.results = results
    self.logger = logger
    self.now = now
  }

  /// Ends ``run()``.
  func finish() {
    isFinished.store(true, ordering: .releasing)
    signal.signal()
  }

  /// Runs until ``finish()``: what is waited for while the service drains has its moment too.
  func run() async {
    var hasFailed = false
    while isRunning {
      do {
        try await expire()
        try await followEnded()
        try await forget()
        // A log that a reader held shrinks once that has gone, also where nothing is written then.
        _ = await ledger.condition()
        hasFailed = false
      } catch {
        // Said once: the ledger's own trouble shows everywhere.
        if !hasFailed { logger.error("Expiry waits for the ledger", [.error: "\(error)"]) }
        hasFailed = true
      }
      await signal.wait(atMost: Self.interval)
    }
  }

  private var isRunning: Bool { !isFinished.load(ordering: .acquiring) && !Task.isCancelled }

  /// Batch after batch, between which results and all others have their turn.
  private func expire() async throws {
    while isRunning {
      let expired = try await ledger.expireDue()
      if expired.isEmpty { return }
      for handoff in expired { await results.follow(handoff) }
    }
  }

  private func forget() async throws {
    let moment = now().advanced(by: .zero - Self.memory)
    while isRunning, try await ledger.forgetTokens(endedBefore: moment) > 0 {}
  }

  /// What the ledger has ended by itself; what an error of the ledger leaves is looked after the next time.
  private func followEnded() async throws {
    var rest = ended.take()[...]
    defer { if !rest.isEmpty { ended.giveBack(rest) } }
    while let id = rest.first {
      let handoff = try await ledger.handoff(id)
      rest.removeFirst()
      if let handoff { await results.follow(handoff) }
    }
  }
}
