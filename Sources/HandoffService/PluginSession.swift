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
    let ledger: Ledger
    let results: ResultStage
    let claims: ClaimLoop
    let now: @Sendable () -> Timestamp
    let logger: Logger
  }

  let parts: Parts
  private let held = InFlightTable()

  init(_ parts: Parts) {
    self.parts = parts
  }

  private var settings: DestinationSettings { parts.settings }

  /// Serves the plugin until the service drains, then shuts it down.
  func serve(_ process: PluginProcess, health: DestinationHealth) async {
    do {
      let introduction = try await process.ready()
      let constraints = settings.constraints
        .narrowed(by: introduction.discovery.constraints ?? Constraints())
      let working = try await reconcile(process)
      health.set(.up)
      await parts.claims.run(
        first: working.map { entry in { await follow(entry, process) } },
        counting: health.inFlight
      ) { claimed in
        await deliver(claimed, process, constraints)
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
    _ constraints: Constraints
  ) async {
    let id = claimed.handoff.id
    do {
      switch try await parts.delivery.prepare(claimed.handoff, constraints: constraints) {
      case .refuse(let error):
        try await parts.results.fail(id, error, side: .sender, retry: nil)
      case .wait(let waiting):
        try await parts.ledger.release(id, leaseID: claimed.leaseID, waiting: waiting)
      case .ready(let assets):
        // From here on the receiver may act: a broker that dies now must ask it.
        let ceiling = parts.now().advanced(by: settings.ceiling)
        try await parts.ledger.recordSubmission(id, leaseID: claimed.leaseID, ceiling: ceiling)
        try await submit(InFlight(claimed, assets: assets), process)
      }
    } catch {
      logFailure(id, error)
    }
  }

  private func submit(_ entry: InFlight, _ process: PluginProcess) async throws {
    held.insert(entry)
    defer { held.remove(entry) }
    do {
      let answer = try await process.submit(entry.parameters)
      guard answer.accepted else {
        let error = answer.error ?? Self.refusedWithoutReason
        return try await parts.results.fail(
          entry.id,
          error,
          side: .receiver,
          retry: error.retry == .never ? nil : settings.retry
        )
      }
      try await parts.ledger.recordAcceptance(entry.id)
    } catch let error as ResultError where error.effect == .none {
      return try await parts.results.fail(entry.id, error, side: .broker, retry: settings.retry)
    } catch let error as ResultError where error.code == .receiverCrashed {
      // The plugin's next life is asked what became of it.
      return
    } catch let error as ResultError {
      parts.logger.warning(
        "A plugin gave no clear answer to submit",
        [.handoffID: entry.id.description, .detail: error.message]
      )
    }
    await follow(entry, process)
  }

  private static let refusedWithoutReason = ResultError(
    .receiverFailed,
    "the receiver did not accept it and gave no reason",
    effect: .unknown
  )

  // MARK: Following

  /// Waits for the attempt's end; asks a receiver that gives no sign of life.
  private func follow(_ entry: InFlight, _ process: PluginProcess) async {
    held.insert(entry)
    defer { held.remove(entry) }
    while await !entry.wait(idle: settings.idle) {
      do {
        let knowledge = try await process.probe(entry.reference)
        if knowledge.standing == .working {
          entry.giveSign()
          continue
        }
        try await learn(knowledge, entry)
      } catch is CancellationError {
        return
      } catch {
        await giveUp(entry, process, error)
      }
      return
    }
  }

  private func learn(_ knowledge: HandoffKnowledge, _ entry: InFlight) async throws {
    if knowledge.standing == .unknown {
      let error = ResultError(
        .receiverTimeout,
        "no sign of life for \(settings.idle), and the receiver cannot tell what became of it",
        effect: .unknown
      )
      try await parts.results.fail(entry.id, error, side: .receiver, retry: nil)
    } else {
      try await parts.results.learn(knowledge, from: settings)
    }
  }

  /// A plugin that does not even answer a probe hangs: it is ended, and its next life is asked.
  private func giveUp(_ entry: InFlight, _ process: PluginProcess, _ error: any Error) async {
    logFailure(entry.id, error)
    await process.shutdown()
  }

  // MARK: Reconciling

  /// Asks a plugin that has just started what it knows of everything that is open; returns what it is
  /// still working on.
  private func reconcile(_ process: PluginProcess) async throws -> [InFlight] {
    let open = try await parts.ledger.openHandoffs(destination: settings.name)
    guard !open.isEmpty else { return [] }
    var entries: [String: InFlight] = [:]
    for claimed in open {
      let entry = InFlight(claimed, assets: try await grantAgain(claimed.handoff))
      entries[claimed.handoff.id.description] = entry
      held.insert(entry)
    }
    var working: [InFlight] = []
    for knowledge in try await process.reconcile(entries.values.map(\.parameters)) {
      guard let entry = entries[knowledge.handoffID] else { continue }
      try await take(knowledge, entry)
      if knowledge.standing == .working {
        working.append(entry)
      } else {
        held.remove(entry)
      }
    }
    return working
  }

  private func take(_ knowledge: HandoffKnowledge, _ entry: InFlight) async throws {
    guard knowledge.standing == .unknown else {
      do {
        return try await parts.results.learn(knowledge, from: settings)
      } catch let error as ResultError where error.code == .alreadyConsumed {
        // Its result came over the socket a moment before.
        return
      }
    }
    guard entry.claimed.handoff.status.isInFlight else { return }
    let error = ResultError(
      .interrupted,
      "the receiver cannot tell what became of it",
      effect: .unknown,
      remedy: "look at the destination, then `handoff adopt`, `retry` or `cancel`"
    )
    try await parts.results.fail(entry.id, error, side: .receiver, retry: nil)
  }

  /// The paths that the handoff had before, since a receiver may go on with it.
  private func grantAgain(_ handoff: Handoff) async throws -> [GrantedAsset] {
    switch try await parts.delivery.prepare(handoff, constraints: Constraints()) {
    case .ready(let assets): assets
    // It resolves to nothing; what the receiver knows still counts.
    case .refuse, .wait: []
    }
  }

  private func logFailure(_ id: Handoff.ID, _ error: any Error) {
    parts.logger.error(
      "A handoff could not be carried on",
      [.handoffID: id.description, .destination: settings.name.text, .error: "\(error)"]
    )
  }
}

// MARK: What comes from the plugin

extension PluginSession {
  var callbacks: PluginCallbacks {
    var callbacks = PluginCallbacks()
    callbacks.onResolve = resolve
    callbacks.onResult = takeResult
    callbacks.onMalformed = takeMalformed
    callbacks.onProgress = { progress in held.entry(of: progress.state)?.giveSign() }
    return callbacks
  }

  @Sendable
  private func resolve(
    _ parameters: ResolveParameters
  ) async throws(RPCMessage.Failure) -> ResolvedAsset {
    guard let entry = held.entry(of: parameters.state) else {
      throw .refused(
        ResultError(.expired, "no handoff of this destination has this token now", effect: .none)
      )
    }
    entry.giveSign()
    guard
      let granted = entry.assets.first(where: {
        $0.asset.localIdentifier == parameters.localIdentifier
      })
    else {
      throw .refused(
        ResultError(
          .accessLimited,
          "the asset is not part of this handoff, or not to be had now",
          effect: .none,
          localIdentifier: parameters.localIdentifier
        )
      )
    }
    return ResolvedAsset(granted)
  }

  @Sendable
  private func takeResult(_ result: HandoffResult) async throws(RPCMessage.Failure) {
    let entry = held.entry(of: result.state)
    do {
      try await parts.results.take(result, from: settings)
      entry?.end()
    } catch let error as ResultError {
      throw .refused(error)
    } catch {
      // Not recorded: the receiver keeps it and sends it again.
      parts.logger.error(
        "A result could not be recorded",
        [.destination: settings.name.text, .error: "\(error)"]
      )
      throw RPCMessage.Failure(code: -32_002, message: "not recorded; send it again later")
    }
  }

  @Sendable
  private func takeMalformed(_ state: StateToken?, _ error: ProtocolError) async {
    guard let state, let entry = held.entry(of: state) else { return }
    do {
      try await parts.results.fail(
        entry.id,
        ResultError(.malformedResult, error.message, effect: .unknown),
        side: .receiver,
        retry: nil
      )
      entry.end()
    } catch {
      logFailure(entry.id, error)
    }
  }
}
