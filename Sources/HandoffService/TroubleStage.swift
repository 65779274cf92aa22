import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths
import Synchronization

/// Has callbacks told of what no transition of the ledger shows: refused exports, imports that fail,
/// low space, destinations that are down.
///
/// What a crash swallows before it is in the ledger is found again by the next start, and what is found
/// again is told once.
final class TroubleStage: Sendable {
  /// Who is told, and where it is written.
  struct Parts: Sendable {
    let settings: SettingsInForce
    let ledger: Ledger
    let stop: StopState
    let now: @Sendable () -> Timestamp
    let logger: Logger

    var alert: CallbackID? { settings.now.configuration.broker.alert }
    /// By configured path.
    var folders: [BytePath: DropFolderSettings] { settings.now.folders }
  }

  private enum Event: Sendable {
    case refused(CandidateChange)
    case suffers(Trouble)
    case well
    case seemsWell
  }

  /// What was heard and not looked at yet: the last of each subject, so that it stays small however
  /// long the ledger cannot be written.
  private struct State {
    var subjects: [Trouble.Subject] = []
    var events: [Trouble.Subject: Event] = [:]
    /// Exports of which an event says that they suffer: only their recovery is of interest.
    var suffering: Set<BytePath> = []

    mutating func add(_ event: Event, of subject: Trouble.Subject) {
      if events.updateValue(event, forKey: subject) == nil { subjects.append(subject) }
    }

    mutating func take(_ limit: Int) -> [(Trouble.Subject, Event)] {
      let taken = subjects.prefix(limit).compactMap { subject in
        events.removeValue(forKey: subject).map { (subject, $0) }
      }
      subjects.removeFirst(taken.count)
      return taken
    }
  }

  private let parts: Parts
  private let state = Mutex(State())
  private let signal = WakeSignal()
  private let files = BlockingThread("troubles")
  private let start = ContinuousClock.now
  private static let batch = 100
  /// A destination that comes up and goes down again was never up.
  private static let recovery: Duration = .seconds(60)
  /// After so long a start has found again what still lasts.
  private static let settled: Duration = .seconds(600)
  private static let kinds: Set<Notice.Kind> = [.failedImport, .lowSpace, .destinationDown]

  init(_ parts: Parts) {
    self.parts = parts
  }

  // MARK: Hearing

  /// Takes in what became of a candidate; does not block.
  func tell(_ change: CandidateChange) {
    guard !callbacks(for: change.folder).isEmpty else { return }
    guard let folder = parts.folders[change.folder] else { return }
    let meaning = change.meaning(sidecarWait: folder.sidecarWait, giveUp: folder.giveUp)
    let subject = Trouble.Subject.export(change.path, folder: change.folder)
    let isNews = state.withLock { state in
      switch meaning {
      case .unchanged: return false
      case .refused:
        state.suffering.remove(change.path)
        state.add(.refused(change), of: subject)
      case .suffers(let trouble):
        state.suffering.insert(change.path)
        state.add(.suffers(trouble), of: subject)
      case .well:
        guard state.suffering.remove(change.path) != nil else { return false }
        state.add(.well, of: subject)
      }
      return true
    }
    if isNews { signal.signal() }
  }

  /// Takes in how a destination is; does not block.
  func tell(_ destination: DestinationName, _ condition: DestinationHealth.Condition) {
    guard parts.alert != nil else { return }
    let event: Event
    switch condition {
    case .starting: return
    case .up: event = .seemsWell
    case .down(let reason): event = .suffers(down(destination, reason, CandidateChange.patience))
    case .incompatible(let error):
      event = .suffers(down(destination, error.message, .zero))
    case .circuitOpen(let reason): event = .suffers(down(destination, reason, .zero))
    }
    state.withLock { $0.add(event, of: .destination(destination)) }
    signal.signal()
  }

  private func down(
    _ destination: DestinationName,
    _ reason: String,
    _ patience: Duration
  ) -> Trouble {
    Trouble(
      .destination(destination),
      .destinationDown,
      condition: "destination_down:\(destination)",
      reason: reason,
      patience: patience
    )
  }

  // MARK: Telling

  /// Runs until the service drains.
  ///
  /// - Parameter evidence: what detection knows of a file.
  func run(evidence: @escaping @Sendable (BytePath) async -> CandidateReport?) async {
    parts.stop.wakeOnDrain(signal)
    var tracker = TroubleTracker()
    var isSettled = false
    while !parts.stop.isDraining, !Task.isCancelled {
      let events = state.withLock { $0.take(Self.batch) }
      var refusals: [CandidateChange] = []
      var steps: [TroubleTracker.Step] = []
      for (subject, event) in events { take(event, of: subject, &tracker, &steps, &refusals) }
      steps += tracker.due(at: elapsed)
      await tell(refusals, evidence)
      for step in steps { await carryOut(step) }
      if !isSettled, elapsed >= Self.settled {
        isSettled = true
        await endWhatIsOver(besides: tracker.conditions)
      }
      if events.count < Self.batch {
        let moments = [tracker.nextDue, isSettled ? nil : Self.settled].compactMap(\.self)
        await signal.wait(atMost: moments.min().map { max($0 - elapsed, .zero) })
      }
    }
  }

  private var elapsed: Duration { start.duration(to: .now) }

  private func take(
    _ event: Event,
    of subject: Trouble.Subject,
    _ tracker: inout TroubleTracker,
    _ steps: inout [TroubleTracker.Step],
    _ refusals: inout [CandidateChange]
  ) {
    switch event {
    case .refused(let change):
      refusals.append(change)
      steps += tracker.isWell(subject)
    case .suffers(let trouble): steps += tracker.suffers(trouble, at: elapsed)
    case .well: steps += tracker.isWell(subject)
    case .seemsWell: tracker.seemsWell(subject, until: elapsed + Self.recovery)
    }
  }

  private func tell(
    _ refusals: [CandidateChange],
    _ evidence: @Sendable (BytePath) async -> CandidateReport?
  ) async {
    guard !refusals.isEmpty else { return }
    var notices: [AddressedNotice] = []
    for change in refusals {
      let report = await evidence(change.path)
      let draft = NoticeDraft.refusedExport(
        change,
        await identity(of: change.path),
        evidence: report?.state == .refused ? report?.evidence ?? [] : [],
        at: parts.now()
      )
      notices += callbacks(for: change.folder).map { AddressedNotice(draft, for: $0) }
    }
    let all = notices
    await written { [ledger = parts.ledger] in try await ledger.notify(all) }
  }

  private func carryOut(_ step: TroubleTracker.Step) async {
    let ledger = parts.ledger
    switch step {
    case .tell(let trouble):
      let draft = NoticeDraft.trouble(trouble, at: parts.now())
      let callbacks = trouble.folder.map(callbacks) ?? [parts.alert].compactMap(\.self)
      await written {
        try await ledger.notify(callbacks.map { AddressedNotice(draft, for: $0) })
      }
    case .end(let condition):
      await written { try await ledger.endConditions([.lasting(condition)]) }
    }
  }

  private func endWhatIsOver(besides conditions: Set<String>) async {
    let ledger = parts.ledger
    let lasting = conditions.map { NoticeDraft.Condition.lasting($0) }
    await written { try await ledger.endConditions(of: Self.kinds, except: lasting) }
  }

  /// The broker's alert and the folder's own callback, each once.
  private func callbacks(for folder: BytePath) -> [CallbackID] {
    let own = parts.folders[folder]?.callback
    guard let own, own != parts.alert else { return [parts.alert].compactMap(\.self) }
    return [parts.alert, own].compactMap(\.self)
  }

  private func identity(of path: BytePath) async -> FileIdentity? {
    do {
      return try await files.run { () throws(SystemError) in
        try FileStatus.of(path)?.identity
      }
    } catch {
      // It was looked at a moment ago; a notice without it may only be told once more.
      return nil
    }
  }

  /// Writes until the ledger takes it, or the broker stops: then the next start finds it again.
  private func written(_ write: @Sendable () async throws -> Void) async {
    do {
      try await LastingWrite(stop: parts.stop, logger: parts.logger)
        .run("A trouble cannot be recorded", [:], write)
    } catch {
      parts.logger.warning("A trouble was not recorded", [.error: "\(error)"])
    }
  }
}
