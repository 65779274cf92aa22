import HandoffLog
import HandoffProtocol
import Ledger

/// Brings notices to their callbacks, each callback for itself, and keeps their table small.
struct NoticeStage: Sendable {
  let loops: [NoticeLoop]
  let ledger: Ledger
  let stop: StopState
  let logger: Logger

  /// How long a notice waits for a callback id that is not configured.
  static let patience: Duration = .seconds(86_400)
  /// How long a notice is kept that was delivered or given up.
  static let age: Duration = .seconds(90 * 86_400)
  private static let interval: Duration = .seconds(3600)

  /// Runs until the service drains and what is under way has ended.
  func run() async {
    await withDiscardingTaskGroup { group in
      for loop in loops { group.addTask { await loop.run() } }
      group.addTask { await tidy() }
    }
  }

  private func tidy() async {
    let configured = Set(loops.map(\.callback))
    let rest = WakeSignal()
    stop.wakeOnDrain(rest)
    while !stop.isDraining, !Task.isCancelled {
      do {
        while try await ledger.tidyNotices(
          configured: configured,
          patience: Self.patience,
          age: Self.age
        ) {}
      } catch {
        logger.warning("Old notices are still there", [.error: "\(error)"])
      }
      await rest.wait(atMost: Self.interval)
    }
  }
}
