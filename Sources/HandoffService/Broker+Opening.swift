import AssetLibrary
import Callbacks
import Destinations
import DropFolders
package import HandoffConfig
import HandoffControl
import HandoffCore
package import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import MediaProbe
import Paths

extension Broker {
  /// Opens everything that a broker stands on; nothing runs yet.
  ///
  /// - Parameters:
  ///   - configuration: decoded without problems.
  ///   - programs: where the probe and the plugins are.
  ///   - environment: this process's, of which receivers get what their destination names.
  ///   - logger: hears of everything.
  /// - Returns: a broker that ``Broker/run(stopping:ready:)`` runs.
  /// - Throws: ``ServiceError``, or what the ledger, the library or the system says.
  package static func open(
    _ configuration: Configuration,
    programs: Programs,
    environment: [String: String],
    logger: Logger
  ) async throws -> Broker {
    let secrets = Secrets(of: configuration, environment: environment)
    if !secrets.problems.isEmpty {
      let problems = secrets.problems.map(\.description)
      throw ServiceError(.noSecret, problems.joined(separator: "\n"))
    }
    let loadedAt = SystemClock.now()
    let settings = SettingsInForce(
      SettingsInForce.Values(configuration, secrets: secrets, firstSeen: [:], loadedAt: loadedAt)
    )
    let state = StateFolder(configuration.broker.state)
    try Directory.createDurably(state.path, permissions: 0o700)
    try Ledger.checkPlace(state.path)
    let lock = try BrokerLock(state)
    try state.removeUnfinished()
    try await requireLedger(of: configuration.library.path, in: state, logger)
    let dispatch = DispatchSignals(configuration.destinations.map(\.name))
    let notices = NoticeSignals(configuration.callbacks.keys)
    let endedByOrder = EndedByOrder()
    let boot = try SystemClock.boot()
    let ledger = try await Ledger.open(
      directory: state.path,
      logger: logger,
      now: SystemClock.now,
      bootClock: boot,
      crashLimit: configuration.broker.crashLimit,
      onCommit: { dispatch.signal($0) },
      onEndByOrder: { endedByOrder.add($0) },
      notices: NoticeRouting(alertNow: { settings.now.configuration.broker.alert }) {
        notices.signal($0)
      }
    )
    try await ledger.revise(for: configuration.destinations)
    let stop = StopState()
    let library = try await openLibrary(configuration, ledger, stop, logger)
    settings.replace(
      with: SettingsInForce.Values(
        configuration,
        secrets: secrets,
        firstSeen: try await ledger.firstSeen(folders: configuration.dropFolders),
        loadedAt: loadedAt
      )
    )
    let opened = OpenedParts(
      settings: settings,
      state: state,
      ledger: ledger,
      library: library,
      probe: MediaProbe(executable: programs.probe, logger: logger),
      leases: try await LeaseKeeper(),
      dispatch: dispatch,
      wishes: DispatchSignals(configuration.destinations.map(\.name)),
      notices: notices,
      callbacks: callbackHost(programs, environment),
      stop: stop,
      host: try await receiverHost(configuration, state, programs, environment, logger),
      logger: logger,
      receipts: ReceiptStage(
        ledger: ledger,
        settings: settings,
        files: BlockingThread("receipts"),
        logger: logger
      ),
      hold: HandoffHold(
        rebuilt: try await ledger.note(.rebuilt),
        isLifted: try await ledger.note(.resumed) != nil
      ),
      suspects: try ImportSuspects(
        state.imports,
        boot: boot.boot,
        limit: configuration.broker.crashLimit,
        files: BlockingThread("imports"),
        logger: logger
      ),
      desk: CheckDesk(
        library: library,
        ledger: ledger,
        stop: stop,
        now: SystemClock.now,
        logger: logger
      ),
      address: APIAddress(configuration.broker),
      endedByOrder: endedByOrder,
      stages: RunningStages(stop: stop),
      environment: environment,
      programs: programs
    )
    try LoadedConfiguration(of: configuration, at: loadedAt).write(into: state)
    return try await opened.broker(lock)
  }

  /// Refuses to begin a ledger on a library that has assets: it would hand all of them off once more.
  ///
  /// Asked before the ledger is made. The broker that makes one finds its library empty, so what a crash
  /// of its first imports leaves in the library is never taken for this.
  private static func requireLedger(
    of library: BytePath,
    in state: StateFolder,
    _ logger: Logger
  ) async throws {
    guard try !Ledger.hasTraces(in: state.path),
      try await !AssetLibrary.isEmpty(at: library, logger: logger)
    else { return }
    throw ServiceError(
      .ledgerLost,
      "the ledger is lost: \(library.displayText) has assets, and there is no ledger in "
        + "\(state.path.displayText); `handoff restore` puts a backup in its place, `handoff rebuild` makes "
        + "it again from the library"
    )
  }

  /// A ledger without assets takes whatever library is at the path; else only its own will do.
  private static func openLibrary(
    _ configuration: Configuration,
    _ ledger: Ledger,
    _ stop: StopState,
    _ logger: Logger
  ) async throws -> AssetLibrary {
    let hasAssets = try await !ledger.counts().assets.isEmpty
    let known = try await ledger.libraryID()
    let library: AssetLibrary
    do throws(LibraryError) {
      library = try await AssetLibrary.open(
        at: configuration.library.path,
        logger: logger,
        whenMissing: hasAssets ? .wait : .create,
        expecting: hasAssets ? known : nil,
        isExclusive: true
      )
    } catch {
      guard error.code == .inUse else { throw error }
      throw ServiceError(.libraryInUse, error.description)
    }
    let marking = LedgerMarking(library: library, ledger: ledger, stop: stop, logger: logger)
    if let id = library.id {
      if id == known {
        try await marking.check()
      } else {
        // The mark that is there is another ledger's.
        try await marking.write()
        try await ledger.setLibraryID(id)
      }
    }
    if let absence = await library.absence() {
      logger.error(
        "The library is away: everything that needs it waits",
        [.path: configuration.library.path.displayText, .error: absence.description]
      )
    }
    return library
  }

  private static func callbackHost(
    _ programs: Programs,
    _ environment: [String: String]
  ) -> CallbackHost {
    var host = CallbackHost(programs: programs.folder, environment: environment)
    host.agent = "handoff/\(Version.text)"
    return host
  }

  /// What receivers are started with, whoever starts them.
  static func receiverHost(
    _ configuration: Configuration,
    _ state: StateFolder,
    _ programs: Programs,
    _ environment: [String: String],
    _ logger: Logger
  ) async throws -> ReceiverHost {
    let searchPath = environment["PATH"] ?? CommandSearch.defaultPath
    return ReceiverHost(
      programs: programs.folder,
      environment: environment,
      support: await ContainmentSupport.find(searchPath: searchPath),
      system: try SystemLayout.current(),
      hidden: [state.path, configuration.library.path],
      logger: logger
    )
  }
}
