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
  let configuration: Configuration
  let secrets: Secrets
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
  let stop: StopState
  let host: ReceiverHost
  let logger: Logger
  let firstSeen: [BytePath: Timestamp]
  let receipts: ReceiptStage
  let hold: HandoffHold
  let desk: CheckDesk
  let address: APIAddress
  let urgent = UrgentReadings()
  let changes = ChangeBroadcast()
  let running = RunningPlugins()
  let turns = AssetTurns()
  let leftovers = WakeSignal()
  let files = BlockingThread("files")

  func broker(_ lock: BrokerLock) async throws -> Broker {
    let troubles = makeTroubles()
    let health = configuration.destinations.map { settings in
      DestinationHealth(settings.name) { troubles.tell(settings.name, $0) }
    }
    let intake = makeIntake()
    let watcher = makeWatcher(intake, troubles)
    return Broker(
      configuration: configuration,
      state: state,
      lock: lock,
      ledger: ledger,
      library: library,
      probe: probe,
      watcher: watcher,
      stages: try await makeStages(health, troubles, watcher),
      questions: ControlQuestions(
        configuration: configuration,
        ledger: ledger,
        watcher: watcher,
        health: health,
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
          delivery: delivery,
          running: running,
          health: health,
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
      brake: IntakeBrake(library: library, reserve: configuration.library.reserve),
      turns: turns,
      results: results,
      firstSeen: firstSeen,
      units: FolderUnits(configuration.dropFolders),
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
      firstSeen: firstSeen,
      surroundings: DropFolderWatcher.Surroundings(
        probe: { [probe] file, size in await probe.verdict(for: file, size: size) },
        known: { path, identity in try await intake.known(path, identity) },
        importer: { export in await intake.take(export) },
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
      folders: configuration.dropFolders,
      firstSeen: firstSeen,
      hold: hold,
      logger: logger
    )
  }

  private var sidecars: SidecarReader {
    SidecarReader(
      ledger: ledger,
      leases: leases,
      callbacks: Set(configuration.callbacks.keys),
      files: files
    )
  }

  private var originals: OriginalStage {
    OriginalStage(
      library: library,
      ledger: ledger,
      folders: Dictionary(configuration.dropFolders.map { ($0.path, $0) }) { first, _ in first },
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

  var delivery: DeliveryPreparation {
    DeliveryPreparation(
      library: library,
      ledger: ledger,
      folders: Dictionary(configuration.destinations.map { ($0.name, $0.folders) }) { first, _ in
        first
      },
      objects: ObjectGuard(library: library, ledger: ledger, urgent: urgent, logger: logger),
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

  private func makeStages(
    _ health: [DestinationHealth],
    _ troubles: TroubleStage,
    _ watcher: DropFolderWatcher
  ) async throws -> Stages {
    var exec: [ExecStage] = []
    var plugins: [PluginStage] = []
    var http: [HTTPStage] = []
    var urls: [URLStage] = []
    var inboxes: [FileStage] = []
    for (settings, health) in zip(configuration.destinations, health) {
      switch settings.transport {
      case .exec: exec.append(execStage(settings, try await launch(settings), health))
      case .plugin: plugins.append(pluginStage(settings, try await launch(settings), health))
      case .http: http.append(httpStage(settings, health))
      case .url: urls.append(urlStage(settings, health))
      case .file: inboxes.append(fileStage(settings, health))
      }
    }
    let destinations = configuration.destinations.map { ($0.name, $0) }
    return Stages(
      recovery: RecoveryStage(
        ledger: ledger,
        library: library,
        results: results,
        originals: originals,
        destinations: Dictionary(uniqueKeysWithValues: destinations),
        logger: logger
      ),
      expiry: ExpiryStage(ledger: ledger, results: results, logger: logger),
      deletion: DeletionStage(
        ledger: ledger,
        library: library,
        deletion: deletion,
        originals: originals,
        watcher: watcher,
        files: files,
        retention: configuration.library.retention,
        stop: stop,
        now: SystemClock.now,
        logger: logger
      ),
      receipts: receipts,
      notices: noticeStage,
      troubles: troubles,
      verification: verification,
      check: desk,
      api: apiStage(),
      exec: exec,
      plugins: plugins,
      http: http,
      urls: urls,
      files: inboxes
    )
  }

  private var verification: VerificationStage {
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

  private func launch(_ settings: DestinationSettings) async throws -> ReceiverLaunch {
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
      logger: logger
    )
  }

  private func execStage(
    _ settings: DestinationSettings,
    _ launch: ReceiverLaunch,
    _ health: DestinationHealth
  ) -> ExecStage {
    ExecStage(
      settings: settings,
      receiver: ExecReceiver(launch: launch),
      delivery: delivery,
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

  private func pluginStage(
    _ settings: DestinationSettings,
    _ launch: ReceiverLaunch,
    _ health: DestinationHealth
  ) -> PluginStage {
    let parts = PluginSession.Parts(
      settings: settings,
      delivery: delivery,
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
