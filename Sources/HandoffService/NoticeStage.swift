import HandoffLog
import HandoffProtocol
import Ledger

/// Keeps the table of notices small; each callback has a ``NoticeLoop`` of its own, that brings them.
struct NoticeStage: Sendable {
  let settings: SettingsInForce
  let ledger: Ledger
  let stop: StopState
  let logger: Logger

  /// How long a notice waits for a callback id that is not configured.
  static let patience: Duration = .seconds(86_400)
  /// How long a notice is kept that was delivered or given up.
  static let age: Duration = .seconds(90 * 86_400)
  private static let interval: Duration = .seconds(3600)

  /// Runs until the service drains.
  func run() async {
    let rest = WakeSignal()
    stop.wakeOnDrain(rest)
    while !stop.isDraining, !Task.isCancelled {
      do {
        while try await ledger.tidyNotices(
          configured: settings.now.callbacks,
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
