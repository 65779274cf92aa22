import DropFolders
import Glibc
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// Answers what the command line asks of the running broker.
struct ControlQuestions: Sendable {
  let settings: SettingsInForce
  let ledger: Ledger
  let watcher: DropFolderWatcher
  let roster: DestinationRoster
  let reloader: Reloader
  let handImport: HandImport
  let changes: ChangeBroadcast
  let running: RunningPlugins
  let wishes: DispatchSignals
  let results: ResultStage
  let dryRun: DryRun
  let sidecars: SidecarReader
  let deletion: AssetDeletion
  let originals: OriginalStage
  let care: CareQuestions
  let address: APIAddress
  let suspects: ImportSuspects
  let look: DestinationLook
  /// How this machine can contain receivers, for people.
  let containment: String
  let now: @Sendable () -> Timestamp

  var configuration: Configuration { settings.now.configuration }
  /// In the file's order.
  var health: [DestinationHealth] {
    configuration.destinations.compactMap { roster[$0.name] }
  }

  func answer(
    _ method: ControlMethod,
    _ parameters: JSONValue?,
    from peer: ControlPeer
  ) async throws -> JSONValue {
    switch method {
    case .status:
      try WireCoder.value(
        try await status(WireCoder.document(StatusParameters.self, from: parameters))
      )
    case .why:
      try WireCoder.value(try await why(WireCoder.document(WhyParameters.self, from: parameters)))
    case .importFile:
      try WireCoder.value(
        try await handImport.run(
          WireCoder.document(ImportParameters.self, from: parameters),
          from: peer
        )
      )
    case .send:
      try WireCoder.value(try await send(parameters))
    case .dryRun: try WireCoder.value(try await dryRun(parameters))
    case .wait:
      try WireCoder.value(try await wait(WireCoder.document(WaitParameters.self, from: parameters)))
    case .cancel: try await decide(parameters, cancel, ledger.dismiss)
    case .retry: try await decide(parameters, retry, ledger.retry)
    case .retryFailed:
      try WireCoder.value(
        try await retryFailed(WireCoder.document(RetryFailedParameters.self, from: parameters))
      )
    case .retryFile:
      try WireCoder.value(
        try await judgeAgain(WireCoder.document(WhyParameters.self, from: parameters))
      )
    case .adopt:
      try await decide(WireCoder.document(WaitParameters.self, from: parameters), adopt)
    case .allow: try await allow(parameters)
    case .result: try await takeResult(parameters)
    case .delete: try await delete(parameters, from: peer)
    case .resume:
      try WireCoder.value(
        try await resume(
          WireCoder.document(DestinationParameters.self, from: parameters),
          from: peer
        )
      )
    case .reload: try WireCoder.value(try await reloader.reload())
    case .pause:
      try WireCoder.value(
        try await pause(
          WireCoder.document(DestinationParameters.self, from: parameters),
          from: peer
        )
      )
    case .approve:
      try WireCoder.value(
        try await approve(WireCoder.document(ApproveParameters.self, from: parameters), from: peer)
      )
    case .standings: try WireCoder.value(try await namedStandings())
    case .destinations: try WireCoder.value(try await destinations())
    case .destinationChecks: try WireCoder.value(await destinationChecks())
    case .verify:
      try WireCoder.value(
        try await verify(WireCoder.document(WaitParameters.self, from: parameters), from: peer)
      )
    case .fsck, .fsckProgress, .fsckStop, .gc, .resumeHandoffs:
      try await care.answer(method, parameters)
    }
  }

  private func why(_ parameters: WhyParameters) async throws -> WhyReport {
    let places = folderPaths.places(of: parameters.path)
    // What was imported by hand is known by the name that was given.
    for path in places + [parameters.path] {
      if let report = await watcher.explained(path) { return WhyReport(report) }
      if let identifier = try await ledger.identifier(lastSightedAt: path) {
        return WhyReport(
          path,
          state: "imported",
          reason: try await imported(path, as: identifier),
          localIdentifier: identifier
        )
      }
    }
    let isInside = configuration.dropFolders.contains { folder in
      places.contains { $0.isInside(folder.path) }
    }
    return WhyReport(
      parameters.path,
      state: "unknown",
      reason: isInside ? "there is no such file" : "it lies in no drop folder"
    )
  }

  /// What there is to say of a file that the ledger has; nil where nothing is.
  private func imported(
    _ path: BytePath,
    as identifier: LocalIdentifier
  ) async throws -> String? {
    if let reason = try await lateSidecar(beside: path) { return reason }
    if let reason = try await care.reasonToHold(identifier) { return reason }
    return try await reason(ofOriginal: path, of: identifier)
  }

  /// Of a burst of 100,000 files this is a readable part, made in well under a second.
  private static let candidatesAtOnce = 1_000

  private func status(_ parameters: StatusParameters) async throws -> StatusReport {
    let counts = try await ledger.counts()
    let waiting = try await ledger.pendingCounts()
    var needsPerson: [Handoff] = []
    for status in [HandoffStatus.outcomeUnknown, .needsUser] {
      needsPerson += try await ledger.handoffs(status: status, limit: 100)
    }
    needsPerson += try await ledger.unadoptedSuccesses(limit: 100)
    needsPerson += try await ledger.givenUp(limit: 100)
    needsPerson += try await waitingForUnknownDestinations(waiting)
    needsPerson += try await ledger.waitingForApproval(limit: 100).filter {
      configuration.destination($0.destination) != nil
    }
    let standings = try await standings()
    let pauses = try await ledger.pauses()
    let failed = try await ledger.notices(.failed, limit: 100)
    var shown = counts.shown
    for (state, count) in try await ledger.countUndelivered() {
      shown["notices.\(state.rawValue)"] = count
    }
    for (state, count) in await watcher.stateCounts {
      shown["candidates.\(state.rawValue)"] = count
    }
    let held = try await ledger.heldOrderCount()
    if held > 0 { shown["held_orders"] = held }
    let candidates = await watcher.explainedCandidates(
      after: parameters.candidatesAfter,
      limit: Self.candidatesAtOnce
    )
    var report = StatusReport(
      version: Version.text,
      pid: getpid(),
      folders: await watcher.folders().map(StatusReport.Folder.init),
      candidates: candidates.page.map(WhyReport.init),
      destinations: health.map { health in
        let shown = health.shown
        let pause = pauses.first { $0.destination == health.name }
        return StatusReport.Destination(
          name: health.name,
          status: pause == nil ? shown.status : "paused",
          containment: health.containment,
          inFlight: health.inFlight.value,
          waiting: waiting[health.name] ?? 0,
          detail: pause.map(Self.sentence) ?? shown.detail
        )
      },
      counts: shown,
      needsPerson: needsPerson.map { .handoff(HandoffReport($0, under: standings, at: now())) }
        + failed.map { .notice(NoticeReport($0)) } + (try await stoppedDestinations()),
      notices: try await ledger.notices(.pending, limit: 100).map(NoticeReport.init)
    )
    if !candidates.isLast { report.candidatesNext = candidates.page.last?.path }
    report.containment = containment
    report.config = await reloader.shown
    report.originals = try await stayingOriginals()
    report.heldOrders = try await care.heldOrders()
    report.api = StatusReport.API(address)
    report.ledger = await ledger.condition().report
    report.library = try await care.libraryReport(counts)
    return report
  }

  private func wait(_ parameters: WaitParameters) async throws -> HandoffReport {
    let id = try handoffID(parameters)
    return try await changes.wait(for: id) {
      guard let handoff = try await ledger.handoff(id) else {
        throw ControlError(.notFound, "there is no handoff \(id)")
      }
      let needsPerson =
        [.outcomeUnknown, .needsUser].contains(handoff.status)
        || (handoff.status == .pending && handoff.waiting?.reason == .approval)
      guard handoff.status.isFinal || needsPerson else { return nil }
      return try await report(handoff)
    }
  }

  func handoffID(_ parameters: WaitParameters) throws -> Handoff.ID {
    guard let id = Handoff.ID(parameters.handoffID) else {
      throw ControlError(.notFound, "there is no handoff \(parameters.handoffID)")
    }
    return id
  }

  /// A person's decision about one handoff, or about a notice that was given up.
  private func decide(
    _ parameters: JSONValue?,
    _ move: (Handoff.ID) async throws -> Handoff,
    _ moveNotice: (Notice.ID) async throws -> Notice
  ) async throws -> JSONValue {
    let named = try WireCoder.document(WaitParameters.self, from: parameters)
    guard let id = Notice.ID(named.handoffID) else { return try await decide(named, move) }
    do {
      return try WireCoder.value(NoticeReport(try await moveNotice(id)))
    } catch let error as LedgerError {
      throw error.refusal
    }
  }

  /// A person's decision about one handoff.
  private func decide(
    _ named: WaitParameters,
    _ move: (Handoff.ID) async throws -> Handoff
  ) async throws -> JSONValue {
    let id = try handoffID(named)
    do {
      return try WireCoder.value(try await report(try await move(id)))
    } catch let error as LedgerError {
      throw error.refusal
    }
  }
}
