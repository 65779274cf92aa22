import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Delivers the handoffs of one `http` destination.
///
/// With `answer = "callback"` an attempt is over once the receiver has taken the request: the result comes
/// through the API, from this receiver or not at all, and only the ceiling ends the waiting.
struct HTTPStage: Sendable {
  let settings: DestinationSettings
  let receiver: HTTPReceiver
  let delivery: DeliveryPreparation
  let ledger: Ledger
  let results: ResultStage
  let claims: ClaimLoop
  let health: DestinationHealth
  let address: APIAddress
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// How soon an API that is not to be reached is looked for again.
  private static let apiWait: Duration = .seconds(2)

  /// Runs until the service drains and what was claimed has ended.
  func run() async {
    await recall()
    health.setContainment("none: it is a service of its own")
    var claims = claims
    let gate = APIGate(address: address, health: health)
    claims.isOpen = { gate.isOpen }
    await claims.run(counting: health.inFlight) { claimed in await deliver(claimed) }
  }

  /// Shows a stop that an earlier broker has recorded.
  private func recall() async {
    do {
      let stop = try await ledger.stop(of: settings.name)
      health.set(stop.map { .circuitOpen($0.reason) } ?? .up)
    } catch {
      // Each handoff asks again before it is sent.
      health.set(.down("\(error)"))
    }
  }

  private func deliver(_ claimed: ClaimedHandoff) async {
    do {
      try await carry(claimed)
    } catch let error as ResultError where error.code == .versionIncompatible {
      await refuse(claimed.handoff.id, error)
      await claims.giveBack(claimed)
    } catch {
      // What was submitted keeps its status: recovery at the next start decides it.
      logger.error(
        "A handoff could not be carried on",
        [
          .handoffID: claimed.handoff.id.description, .destination: settings.name.text,
          .error: "\(error)",
        ]
      )
      await claims.giveBack(claimed)
    }
  }

  /// Ends a handoff that the configured versions of the protocol cannot carry.
  private func refuse(_ id: Handoff.ID, _ error: ResultError) async {
    do {
      try await results.fail(id, error, side: .sender, retry: nil)
    } catch {
      logger.error(
        "A handoff could not be refused",
        [.handoffID: id.description, .destination: settings.name.text, .error: "\(error)"]
      )
    }
  }

  private func carry(_ claimed: ClaimedHandoff) async throws {
    let id = claimed.handoff.id
    if let waiting = try await obstacle() {
      return try await ledger.release(id, leaseID: claimed.leaseID, waiting: waiting)
    }
    switch try await delivery.inspect(claimed.handoff, constraints: settings.constraints) {
    case .refuse(let error):
      try await results.fail(id, error, side: .sender, retry: nil)
    case .wait(let waiting):
      try await ledger.release(id, leaseID: claimed.leaseID, waiting: waiting)
    case .ready(let assets):
      let request = try claimed.request.carried(by: settings.configuredAgreement, assets)
      let grant = try await ledger.grant(of: id)
      // From here on the receiver may act: a broker that dies now cannot know whether it did.
      let ceiling = now().advanced(by: settings.ceiling)
      let version = request.protocolVersion
      guard
        try await results.recordSubmission(claimed, ceiling: ceiling, version: version)
      else { return }
      let end = await receiver.deliver(
        request,
        handoffID: id.description,
        grant: grant.revealed,
        assets: address.assets ?? ""
      )
      try await record(end, of: claimed.handoff)
    }
  }

  /// What keeps every handoff of this destination from being sent now.
  private func obstacle() async throws -> Handoff.Waiting? {
    if let stop = try await ledger.stop(of: settings.name) {
      health.set(.circuitOpen(stop.reason))
      return .init(.paused)
    }
    // It went away since the claim. Where no API is asked for, the receiver gets along without.
    guard address.assets == nil, address.condition != .off else { return nil }
    return .init(.backoff, until: now().advanced(by: Self.apiWait))
  }

  /// What a response has said is not to be had again.
  ///
  /// The write must survive the stop that ended the exchange, so it has a task of its own, awaited at once.
  private func record(_ end: HTTPDelivery, of handoff: Handoff) async throws {
    let fields: [LogKey: String] = [
      .handoffID: handoff.id.description, .destination: settings.name.text,
    ]
    note(end)
    claims.circuit?.note(end.error, of: handoff.id, in: health)
    let write = LastingWrite(stop: stop, logger: logger)
    _ = try await Task {
      try await write.run("The answer of a receiver waits to be recorded", fields) {
        try await take(end, of: handoff)
      }
    }.value
  }

  private func take(_ end: HTTPDelivery, of handoff: Handoff) async throws {
    switch end {
    case .accepted:
      // Its signed result may have been faster than the response.
      try await ledger.recordAcceptance(handoff.id, attempt: handoff.attempts)
    case .result(let result):
      do {
        try await results.takeQuietly(result, from: settings, attempt: handoff.attempts)
      } catch let error as ResultError where error.code == .alreadyConsumed {
        // Its signed result was faster than the response, and another attempt may have begun since.
        logger.info(
          "A response came after the end of its attempt",
          [
            .handoffID: handoff.id.description, .destination: settings.name.text,
            .detail: error.message,
          ]
        )
      }
    case .gone(let error):
      let address = settings.url ?? ""
      let stopped = try await ledger.stop(
        settings.name,
        address: address,
        error,
        of: handoff.id,
        attempt: handoff.attempts
      )
      await results.follow(stopped)
    }
  }

  /// How the destination is, as far as this end says.
  private func note(_ end: HTTPDelivery) {
    switch end {
    case .gone(let error): health.set(.circuitOpen(error.message))
    case .accepted: health.set(.up)
    case .result(let result):
      guard case .failure(let error) = result.outcome else { return health.set(.up) }
      switch error.code {
      // The broker itself cut it off: that says nothing of the receiver.
      case .interrupted: break
      case .destinationUnavailable, .receiverTimeout, .network: health.set(.down(error.message))
      case .receiverFailed where error.effect == .unknown: health.set(.down(error.message))
      default: health.set(.up)
      }
    }
  }
}

extension HTTPDelivery {
  /// How the attempt failed; nil where it did not, or its receiver has said that it wants nothing more.
  fileprivate var error: ResultError? {
    guard case .result(let result) = self else { return nil }
    return result.error
  }
}
