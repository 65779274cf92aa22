import HandoffLog
import Ledger

/// Expires what is past its moment, and frees claims that ran out.
struct ExpiryStage: Sendable {
  let ledger: Ledger
  let results: ResultStage
  let stop: StopState
  let logger: Logger

  /// How late an expiry may be noticed.
  static let interval: Duration = .seconds(5)

  /// Runs until the service drains.
  func run() async {
    let drained = WakeSignal()
    stop.wakeOnDrain(drained)
    var hasFailed = false
    while !stop.isDraining, !Task.isCancelled {
      do {
        for handoff in try await ledger.expireDue() { await results.follow(handoff) }
        hasFailed = false
      } catch {
        // Said once: the ledger's own trouble shows everywhere.
        if !hasFailed { logger.error("Expiry waits for the ledger", [.error: "\(error)"]) }
        hasFailed = true
      }
      await drained.wait(atMost: Self.interval)
    }
  }
}
