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
        look: DestinationLook(host: host),
        containment: host.support.description,
        now: SystemClock.now
      ),
      stop: stop,
      logger: logger
    )
  }
}
