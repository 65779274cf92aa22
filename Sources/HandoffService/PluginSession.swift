import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// One life of a plugin, from `discover` to its end: reconciles, submits, and follows what it holds.
struct PluginSession: Sendable {
  /// What a session needs of the service.
  struct Parts: Sendable {
    let settings: DestinationSettings
    let delivery: DeliveryPreparation
    let renditions: RenditionIntake
    /// The plugin's work folder.
    let work: BytePath
    let ledger: Ledger
    let results: ResultStage
    let claims: ClaimLoop
    let running: RunningPlugins
    /// Somebody wishes something cancelled.
    let wishes: WakeSignal
    let now: @Sendable () -> Timestamp
    let logger: Logger
  }

  let parts: Parts
  let held = InFlightTable()
  /// What the receiver is at work on after all, to be followed again: none may be dropped, and there
  /// are no more than handoffs that are open.
  let revived = AsyncStream.makeStream(of: InFlight.self, bufferingPolicy: .unbounded)
  /// Counts what the receiver is at work on; what waits for a person is not.
  let slots: Counter

  init(_ parts: Parts, slots: Counter) {
    self.parts = parts
    self.slots = slots
  }

  var settings: DestinationSettings { parts.settings }

  /// The cause of a log's warnings that a destination's plugin ends.
  static func ending(of destination: DestinationName) -> String { "plugin \(destination.text)" }

  /// Serves the plugin until the service drains, then shuts it down.
  func serve(_ process: PluginProcess, health: DestinationHealth) async {
    do {
      let introduction = try await process.ready()
      let working = try await reconcile(process)
      health.set(.up)
      parts.logger.ended(
        Self.ending(of: parts.settings.name),
        "A plugin is up again",
        [.destination: parts.settings.name.text]
      )
      await withTaskGroup { group in
        group.addTask { await carryWishes(to: process) }
        group.addTask { await followRevived(process, counting: health.inFlight) }
        let plugin = RunningPlugins.Plugin(introduction: introduction, process: process) {
          await askAgain(about: $0, process)
        }
        parts.running.attach(settings.name, plugin)
        defer { parts.running.detach(settings.name) }
        await parts.claims.run(
          first: working.map { entry in { await follow(entry, process) } },
          counting: health.inFlight
        ) { claimed in
          await deliver(claimed, process, introduction)
        }
        group.cancelAll()
      }
    } catch is CancellationError {
      return
    } catch let error as ResultError where error.code == .destinationUnavailable {
      // It has ended; the process's own end says why.
      return
    } catch {
      parts.logger.warning(
        "A plugin could not be served",
        [.destination: settings.name.text, .error: "\(error)"]
      )
    }
    await process.shutdown()
  }

  // MARK: Submitting

  private func deliver(
    _ claimed: ClaimedHandoff,
    _ process: PluginProcess,
    _ introduction: PluginIntroduction
  ) async {
    let id = claimed.handoff.id
    let constraints = settings.constraints(of: introduction)
    do {
      switch try await parts.delivery.prepare(claimed.handoff, constraints: constraints) {
      case .refuse(let error):
        try await parts.results.fail(id, error, side: .sender, retry: nil)
      case .wait(let waiting):
        try await parts.ledger.release(id, leaseID: claimed.leaseID, waiting: waiting)
      case .ready(let assets):
        let request = try claimed.request(by: introduction.agreement, assets)
        // From here on the receiver may act: a broker that dies now must ask it.
        let ceiling = parts.now().advanced(by: settings.ceiling)
        guard
          try await parts.results.recordSubmission(
            claimed,
            ceiling: ceiling,
            version: request.protocolVersion,
            given: assets.map(\.asset)
          )
        else { return }
        let entry = InFlight(claimed, request: request, assets: assets, ceiling: ceiling)
        await submit(entry, process)
      }
    } catch let error as ResultError where error.code == .versionIncompatible {
      await refuse(id, error)
      await parts.claims.giveBack(claimed)
    } catch {
      logFailure(id, error)
      await parts.claims.giveBack(claimed)
    }
  }

  /// Ends a handoff that its receiver's version of the protocol cannot carry.
  func refuse(_ id: Handoff.ID, _ error: ResultError) async {
    do {
      try await parts.results.fail(id, error, side: .sender, retry: nil)
    } catch {
      logFailure(id, error)
    }
  }

  private func submit(_ entry: InFlight, _ process: PluginProcess) async {
    held.insert(entry)
    defer { held.remove(entry) }
    let mayBeAtWork: Bool
    do {
      mayBeAtWork = try await send(entry, process)
    } catch is CancellationError {
      return
    } catch {
      // It was sent, and what the receiver said could not be recorded: it is asked again later.
      logFailure(entry.id, error)
      mayBeAtWork = true
    }
    entry.setAnswered()
    guard mayBeAtWork else { return }
    parts.wishes.signal()
    await follow(entry, process)
  }

  /// Sends the request and records the answer; true where the receiver may be at work on it now.
  private func send(_ entry: InFlight, _ process: PluginProcess) async throws -> Bool {
    let answer: SubmitAnswer
    do {
      answer = try await process.submit(entry.parameters)
    } catch let error as ResultError where error.effect == .none {
      try await fail(entry, error, side: .broker, retry: settings.retry)
      return false
    } catch let error as ResultError where error.code == .receiverCrashed {
      // The plugin's next life is asked what became of it.
      return false
    } catch let error as ResultError {
      parts.logger.warning(
        "A plugin gave no clear answer to submit",
        [.handoffID: entry.id.description, .detail: error.message]
      )
      return true
    }
    guard answer.accepted else {
      let error = answer.error ?? Self.refusedWithoutReason
      let retry = error.retry == .never ? nil : settings.retry
      try await fail(entry, error, side: .receiver, retry: retry)
      return false
    }
    // A result may have come before the answer.
    return try await parts.ledger.recordAcceptance(entry.id, attempt: entry.attempt)
  }

  /// Records how an attempt failed, unless its result came before and another has begun.
  func fail(
    _ entry: InFlight,
    _ error: ResultError,
    side: Handoff.Side,
    retry: RetryPolicy?
  ) async throws {
    try await parts.results.fail(
      entry.id,
      error,
      side: side,
      retry: retry,
      attempt: entry.attempt
    )
  }

  static let refusedWithoutReason = ResultError(
    .receiverFailed,
    "the receiver did not accept it and gave no reason",
    effect: .unknown
  )

  func logFailure(_ id: Handoff.ID, _ error: any Error) {
    parts.logger.error(
      "A handoff could not be carried on",
      [.handoffID: id.description, .destination: settings.name.text, .error: "\(error)"]
    )
  }
}

extension DestinationSettings {
  /// What the receiver says it takes, narrowed by the configuration.
  func constraints(of introduction: PluginIntroduction) -> Constraints {
    constraints.narrowed(by: introduction.discovery.constraints ?? Constraints())
  }
}
