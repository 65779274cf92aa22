import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Drops what ended longer ago than the configuration keeps history, in short pieces.
///
/// Where it was stopped does not matter: each round begins at the beginning, and passes quickly over what
/// stays.
struct PruningStage: Sendable {
  let ledger: Ledger
  let settings: SettingsInForce
  /// The age to which history is kept may be another.
  let changed: WakeSignal
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// Between two rounds, unless history is kept for less than that.
  private static let longestInterval: Duration = .seconds(3600)
  /// Between two pieces, so that results do not wait for one after another.
  private static let pause: Duration = .milliseconds(20)

  /// Runs until the service drains.
  func run() async {
    stop.wakeOnDrain(changed)
    while !stop.isDraining, !Task.isCancelled {
      let age = age
      do {
        if let age { try await round(age) }
      } catch {
        logger.error("History is not pruned", [.error: "\(error)"])
      }
      // A change during the round has perhaps woken one of its pauses.
      guard age == self.age else { continue }
      await changed.wait(atMost: age.map { min($0, Self.longestInterval) })
    }
  }

  /// Nil to keep all.
  private var age: Duration? { settings.now.configuration.broker.history }

  private func round(_ age: Duration) async throws {
    let cutoff = now().advanced(by: .zero - age)
    var cursor: Handoff.ID?
    var dropped = 0
    repeat {
      let step = try await ledger.prune(endedBefore: cutoff, after: cursor)
      cursor = step.next
      dropped += step.handoffs
      if cursor != nil { await changed.wait(atMost: Self.pause) }
    } while cursor != nil && !stop.isDraining && !Task.isCancelled
    if dropped > 0 {
      logger.info(
        "Pruned the history",
        [.count: String(dropped), .detail: "before \(cutoff.rfc3339)"]
      )
    }
  }
}
