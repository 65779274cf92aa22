import HandoffLog
import Ledger
import Synchronization

/// Expires what is past its moment, and frees claims that ran out; looks after what the ledger has ended by
/// itself.
final class ExpiryStage: Sendable {
  private let ledger: Ledger
  private let results: ResultStage
  private let ended: EndedByOrder
  private let logger: Logger
  private let isFinished = Atomic(false)
  private var signal: WakeSignal { ended.signal }

  /// How late an expiry may be noticed.
  static let interval: Duration = .seconds(5)

  init(ledger: Ledger, results: ResultStage, ended: EndedByOrder, logger: Logger) {
    self.ledger = ledger
    self.ended = ended
    self.results = results
    self.logger = logger
  }

  /// Ends ``run()``.
  func finish() {
    isFinished.store(true, ordering: .releasing)
    signal.signal()
  }

  /// Runs until ``finish()``: what is waited for while the service drains has its moment too.
  func run() async {
    var hasFailed = false
    while !isFinished.load(ordering: .acquiring), !Task.isCancelled {
      do {
        for handoff in try await ledger.expireDue() { await results.follow(handoff) }
        try await followEnded()
        hasFailed = false
      } catch {
        // Said once: the ledger's own trouble shows everywhere.
        if !hasFailed { logger.error("Expiry waits for the ledger", [.error: "\(error)"]) }
        hasFailed = true
      }
      await signal.wait(atMost: Self.interval)
    }
  }

  private func followEnded() async throws {
    for id in ended.take() {
      if let handoff = try await ledger.handoff(id) { await results.follow(handoff) }
    }
  }
}
