import Callbacks
import HandoffConfig
import HandoffCore
import HandoffProtocol

/// What tells callbacks.
extension OpenedParts {
  func makeTroubles() -> TroubleStage {
    TroubleStage(
      TroubleStage.Parts(
        settings: settings,
        ledger: ledger,
        stop: stop,
        now: SystemClock.now,
        logger: logger
      )
    )
  }

  func noticeLoop(_ callback: CallbackSettings) -> NoticeLoop {
    NoticeLoop(
      callback: callback.id,
      delivery: CallbackDelivery(
        callback,
        host: callbacks,
        secrets: settings.now.secrets.callbacks[callback.id] ?? [],
        now: SystemClock.now,
        logger: logger
      ),
      ledger: ledger,
      signal: notices[callback.id] ?? WakeSignal(),
      stop: stop,
      now: SystemClock.now,
      logger: logger
    )
  }
}
