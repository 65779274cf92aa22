import Callbacks
import HandoffConfig
import HandoffCore
import HandoffProtocol

/// What tells callbacks.
extension OpenedParts {
  func makeTroubles() -> TroubleStage {
    TroubleStage(
      TroubleStage.Parts(
        alert: configuration.broker.alert,
        folders: Dictionary(configuration.dropFolders.map { ($0.path, $0) }) { first, _ in first },
        ledger: ledger,
        stop: stop,
        now: SystemClock.now,
        logger: logger
      )
    )
  }

  var noticeStage: NoticeStage {
    let loops = configuration.callbacks.values.map { settings in
      NoticeLoop(
        callback: settings.id,
        delivery: CallbackDelivery(
          settings,
          host: callbacks,
          secrets: secrets.callbacks[settings.id] ?? [],
          now: SystemClock.now,
          logger: logger
        ),
        ledger: ledger,
        signal: notices[settings.id] ?? WakeSignal(),
        stop: stop,
        now: SystemClock.now,
        logger: logger
      )
    }
    return NoticeStage(loops: loops, ledger: ledger, stop: stop, logger: logger)
  }
}
