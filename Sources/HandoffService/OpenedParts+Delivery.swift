import AssetLibrary
import Callbacks
import Destinations
import DropFolders
import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import MediaProbe
import Paths

/// What hands off, and what follows from it.
extension OpenedParts {
  /// For the stage of a destination, or for all of them.
  func delivery(for destination: DestinationSettings? = nil) -> DeliveryPreparation {
    DeliveryPreparation(
      library: library,
      ledger: ledger,
      settings: settings,
      own: destination,
      objects: ObjectGuard(library: library, ledger: ledger, urgent: urgent, logger: logger),
      now: SystemClock.now,
      logger: logger
    )
  }

  var renditions: RenditionIntake {
    RenditionIntake(
      library: library,
      ledger: ledger,
      probe: probe,
      brake: IntakeBrake(library: library, settings: settings),
      turns: turns,
      files: files,
      now: SystemClock.now,
      logger: logger
    )
  }

  var results: ResultStage {
    ResultStage(
      library: library,
      ledger: ledger,
      originals: originals,
      receipts: receipts,
      changes: changes,
      logger: logger
    )
  }

  func makeStages(_ troubles: TroubleStage, _ watcher: DropFolderWatcher) -> Stages {
    Stages(
      recovery: RecoveryStage(
        ledger: ledger,
        library: library,
        results: results,
        originals: originals,
        settings: settings,
        logger: logger
      ),
      expiry: ExpiryStage(ledger: ledger, results: results, ended: endedByOrder, logger: logger),
      deletion: DeletionStage(
        ledger: ledger,
        library: library,
        deletion: deletion,
        originals: originals,
        watcher: watcher,
        files: files,
        settings: settings,
        stop: stop,
        now: SystemClock.now,
        logger: logger
      ),
      receipts: receipts,
      notices: NoticeStage(settings: settings, ledger: ledger, stop: stop, logger: logger),
      troubles: troubles,
      check: desk,
      pruning: PruningStage(
        ledger: ledger,
        settings: settings,
        changed: pruning,
        stop: stop,
        now: SystemClock.now,
        logger: logger
      ),
      api: apiStage(),
      running: stages
    )
  }

  var verification: VerificationStage {
    VerificationStage(
      library: library,
      ledger: ledger,
      interval: configuration.library.verifyEvery,
      urgent: urgent,
      stop: stop,
      now: SystemClock.now,
      logger: logger
    )
  }

  func launch(_ settings: DestinationSettings) async throws -> ReceiverLaunch {
    let work = state.work(settings.name)
    try Directory.createDurably(work, permissions: 0o700)
    let grants = library.grantsPath(destination: settings.name)
    return ReceiverLaunch(
      settings: settings,
      host: host,
      folders: ReceiverFolders(work: work, grants: grants)
    )
  }

  func claims(_ settings: DestinationSettings) -> ClaimLoop {
    ClaimLoop(
      destination: settings.name,
      concurrency: settings.concurrency,
      ledger: ledger,
      signal: dispatch[settings.name] ?? WakeSignal(),
      stop: stop,
      now: SystemClock.now,
      logger: logger,
      circuit: settings.transport == .plugin ? nil : DestinationCircuit(now: SystemClock.now)
    )
  }

  func execStage(
    _ settings: DestinationSettings,
    _ launch: ReceiverLaunch,
    _ health: DestinationHealth
  ) -> ExecStage {
    ExecStage(
      settings: settings,
      receiver: ExecReceiver(launch: launch),
      delivery: delivery(for: settings),
      ledger: ledger,
      results: results,
      claims: claims(settings),
      wishes: wishes[settings.name] ?? WakeSignal(),
      health: health,
      stop: stop,
      now: SystemClock.now,
      logger: logger
    )
  }

  func pluginStage(
    _ settings: DestinationSettings,
    _ launch: ReceiverLaunch,
    _ health: DestinationHealth
  ) -> PluginStage {
    let parts = PluginSession.Parts(
      settings: settings,
      delivery: delivery(for: settings),
      renditions: renditions,
      work: state.work(settings.name),
      ledger: ledger,
      results: results,
      claims: claims(settings),
      running: running,
      wishes: wishes[settings.name] ?? WakeSignal(),
      now: SystemClock.now,
      logger: logger
    )
    return PluginStage(
      launch: launch,
      library: library,
      parts: parts,
      health: health,
      stop: stop,
      logger: logger
    )
  }
}
