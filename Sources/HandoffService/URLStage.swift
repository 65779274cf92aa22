import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Opens the handoffs of one `url` destination; their results come by themselves, or their time runs out.
struct URLStage: Sendable {
  let settings: DestinationSettings
  let receiver: URLReceiver
  let delivery: DeliveryPreparation
  let ledger: Ledger
  let results: ResultStage
  let claims: ClaimLoop
  let health: DestinationHealth
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// Runs until the service drains and no opener runs.
  func run() async {
    health.setContainment(URLReceiver.containment)
    health.set(.up)
    await claims.run(counting: health.inFlight) { claimed in await deliver(claimed) }
  }

  private func deliver(_ claimed: ClaimedHandoff) async {
    let id = claimed.handoff.id
    do {
      switch try await delivery.prepare(claimed.handoff, constraints: settings.constraints) {
      case .refuse(let error):
        try await results.fail(id, error, side: .sender, retry: nil)
      case .wait(let waiting):
        try await ledger.release(id, leaseID: claimed.leaseID, waiting: waiting)
      case .ready(let assets):
        var request = try claimed.request(by: settings.configuredAgreement, assets)
        let ceiling = now().advanced(by: settings.ceiling)
        let version = request.protocolVersion
        guard
          try await results.recordSubmission(claimed, ceiling: ceiling, version: version)
        else { return }
        // The token is dead after the ceiling, so the receiver is told that moment.
        request.expiresAt = request.expiresAt.map { min($0, ceiling) } ?? ceiling
        let error = await receiver.open(request, assets: assets.map(\.path))
        let isDown = [.destinationUnavailable, .notConfigured].contains(error?.code)
        health.set(isDown ? .down(error?.message ?? "") : .up)
        claims.circuit?.note(error, of: id, in: health)
        try await record(error, of: claimed.handoff)
      }
    } catch let error as ResultError where error.code == .versionIncompatible {
      await refuse(id, error)
      await claims.giveBack(claimed)
    } catch {
      // What was submitted keeps its status: its result comes by itself, or its ceiling.
      logger.error(
        "A handoff could not be carried on",
        [.handoffID: id.description, .destination: settings.name.text, .error: "\(error)"]
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

  /// The opener cannot be asked again, so the write has a task of its own that survives a stop.
  private func record(_ error: ResultError?, of handoff: Handoff) async throws {
    let fields: [LogKey: String] = [
      .handoffID: handoff.id.description, .destination: settings.name.text,
    ]
    let attempt = handoff.attempts
    let write = LastingWrite(stop: stop, logger: logger)
    _ = try await Task {
      try await write.run("The opening of a handoff waits to be recorded", fields) {
        if let error {
          let side: Handoff.Side = error.code == .malformedRequest ? .sender : .receiver
          try await results.fail(
            handoff.id,
            error,
            side: side,
            retry: settings.retry,
            attempt: attempt
          )
        } else {
          // Its result may have come while the opener still ran: that is the newer word.
          try await ledger.recordAcceptance(handoff.id, attempt: attempt)
        }
      }
    }.value
  }
}
