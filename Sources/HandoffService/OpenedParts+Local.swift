import Destinations
import HandoffCore
import HandoffProtocol
import Ledger

/// The stages of destinations on this machine that run no receiver of their own.
extension OpenedParts {
  func urlStage(_ settings: DestinationSettings, _ health: DestinationHealth) -> URLStage {
    URLStage(
      settings: settings,
      receiver: URLReceiver(settings: settings, host: host),
      delivery: delivery(for: settings),
      ledger: ledger,
      results: results,
      claims: claims(settings),
      health: health,
      stop: stop,
      now: SystemClock.now,
      logger: logger
    )
  }

  func fileStage(_ settings: DestinationSettings, _ health: DestinationHealth) -> FileStage {
    FileStage(
      settings: settings,
      receiver: FileReceiver(
        settings: settings,
        work: state.work(settings.name),
        logger: logger
      ),
      delivery: delivery(for: settings),
      ledger: ledger,
      results: results,
      claims: claims(settings),
      changes: changes,
      health: health,
      stop: stop,
      now: SystemClock.now,
      logger: logger
    )
  }
}
