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

/// What a broker stands on, opened; makes the stages from it.
struct OpenedParts: Sendable {
  let settings: SettingsInForce
  let state: StateFolder
  let ledger: Ledger
  let library: AssetLibrary
  let probe: MediaProbe
  let leases: LeaseKeeper
  let dispatch: DispatchSignals
  /// Each rings when somebody wishes a handoff of the destination cancelled.
  let wishes: DispatchSignals
  let notices: NoticeSignals
  let callbacks: CallbackHost
  /// Of the part that is made: a destination's stage has one of its own.
  var stop: StopState
  let host: ReceiverHost
  let logger: Logger
  let receipts: ReceiptStage
  let hold: HandoffHold
  let suspects: ImportSuspects
  let desk: CheckDesk
  let address: APIAddress
  let endedByOrder: EndedByOrder
  let urgent = UrgentReadings()
  let changes = ChangeBroadcast()
  let running = RunningPlugins()
  let turns = AssetTurns()
  let leftovers = WakeSignal()
  /// The age to which history is kept may be another.
  let pruning = WakeSignal()
  let files = BlockingThread("files")
  let roster = DestinationRoster()
  let stages: RunningStages
  /// How people and secrets name this process's variables.
  let environment: [String: String]
  let programs: Programs

  var configuration: Configuration { settings.now.configuration }

  func broker(_ lock: BrokerLock) async throws -> Broker {
    let troubles = makeTroubles()
    let intake = makeIntake()
    let watcher = makeWatcher(intake, troubles)
    let stages = makeStages(troubles, watcher)
    let reloader = Reloader(
      parts: self,
      watcher: watcher,
      recovery: stages.recovery,
      troubles: troubles
    )
    try await startAll(troubles)
    return Broker(
      state: state,
      lock: lock,
      ledger: ledger,
      library: library,
      probe: probe,
      watcher: watcher,
      stages: stages,
      reloader: reloader,
      questions: ControlQuestions(
        settings: settings,
        ledger: ledger,
        watcher: watcher,
        roster: roster,
        reloader: reloader,
        handImport: HandImport(
          library: library,
          ledger: ledger,
          probe: probe,
          leases: leases,
          files: files,
          watcher: watcher,
          intake: intake,
          now: SystemClock.now,
          logger: logger
        ),
        changes: changes,
        running: running,
        wishes: wishes,
        results: results,
        dryRun: DryRun(
          ledger: ledger,
          delivery: delivery(),
          running: running,
          roster: roster,
          now: SystemClock.now
        ),
        sidecars: sidecars,
        deletion: deletion,
        originals: originals,
        care: CareQuestions(
          library: library,
          ledger: ledger,
          desk: desk,
          hold: hold,
          now: SystemClock.now,
          logger: logger
        ),
        address: address,
        suspects: suspects,
        containment: host.support.description,
        now: SystemClock.now
      ),
      stop: stop,
      logger: logger
    )
  }

  // MARK: Before the import

  private func makeIntake() -> ImportStage {
    ImportStage(
      library: library,
      ledger: ledger,
      sidecars: sidecars,
      originals: originals,
      receipts: receipts,
      brake: IntakeBrake(library: library, settings: settings),
      turns: turns,
      results: results,
      settings: settings,
      hold: hold,
      now: SystemClock.now,
      logger: logger
    )
  }

  private func makeWatcher(_ intake: ImportStage, _ troubles: TroubleStage) -> DropFolderWatcher {
    let packages = packageStage
    let narrator = CandidateNarrator(logger: logger)
    return DropFolderWatcher(
      folders: configuration.dropFolders,
      control: state.watchControl,
      keeper: leases,
      firstSeen: settings.now.firstSeen,
      surroundings: DropFolderWatcher.Surroundings(
        probe: { [probe] file, size in await probe.verdict(for: file, size: size) },
        known: { path, identity in try await intake.known(path, identity) },
        importer: { [suspects] export in
          await suspects.guarding(export.path, export.identity) { await intake.take(export) }
        },
        outdone: { path, identity in try await intake.outdone(path, identity) },
        packager: { arrival in await packages.record(arrival) },
        observer: { change in
          narrator.tell(change)
          troubles.tell(change)
        },
        now: SystemClock.now
      ),
      logger: logger
    )
  }

  private var packageStage: PackageStage {
    PackageStage(
      ledger: ledger,
      sidecars: sidecars,
      originals: originals,
      receipts: receipts,
      settings: settings,
      hold: hold,
      logger: logger
    )
  }

  private var sidecars: SidecarReader {
    SidecarReader(
      ledger: ledger,
      leases: leases,
      settings: settings,
      files: files
    )
  }

  private var originals: OriginalStage {
    OriginalStage(
      library: library,
      ledger: ledger,
      settings: settings,
      turns: turns,
      hold: hold,
      logger: logger
    )
  }

  private var deletion: AssetDeletion {
    AssetDeletion(
      library: library,
      ledger: ledger,
      results: results,
      turns: turns,
      leftovers: leftovers,
      logger: logger
    )
  }

  // MARK: After it

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

  private var renditions: RenditionIntake {
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

  private func makeStages(_ troubles: TroubleStage, _ watcher: DropFolderWatcher) -> Stages {
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
