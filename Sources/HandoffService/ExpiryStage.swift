import HandoffLog
import Ledger
import Synchronization

/// Expires what is past its moment, and frees claims that ran out.
final class ExpiryStage: Sendable {
  private let ledger: Ledger
  private let results: ResultStage
  private let logger: Logger
  private let isFinished = Atomic(false)
  private let signal = WakeSignal()

  /// How late an expiry may be noticed.
  static let interval: Duration = .seconds(5)

  init(ledger: Ledger, results: ResultStage, logger: Logger) {
    self.ledger = ledger
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
        hasFailed = false
      } catch {
        // Said once: the ledger's own trouble shows everywhere.
        if !hasFailed { logger.error("Expiry waits for the ledger", [.error: "\(error)"]) }
        hasFailed = true
      }
      await signal.wait(atMost: Self.interval)
    }
  }
}
