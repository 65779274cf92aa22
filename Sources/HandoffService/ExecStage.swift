import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Delivers the handoffs of one `exec` destination: a process for each.
struct ExecStage: Sendable {
  let settings: DestinationSettings
  let receiver: ExecReceiver
  let delivery: DeliveryPreparation
  let ledger: Ledger
  let results: ResultStage
  let claims: ClaimLoop
  /// Somebody wishes something cancelled.
  let wishes: WakeSignal
  let attempts = ExecAttempts()
  let health: DestinationHealth
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// Runs until the service drains and what was claimed has ended.
  func run() async {
    health.setContainment(receiver.containment)
    showHealth()
    await withTaskGroup { group in
      group.addTask { await carryWishes() }
      await claims.run(counting: health.inFlight) { claimed in await deliver(claimed) }
      group.cancelAll()
    }
  }

  /// A command that is missing is no receiver that is up.
  private func showHealth() {
    if claims.circuit?.show(in: health) == true { return }
    health.set(receiver.fault.map { .down($0.message) } ?? .up)
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
        let request = try claimed.request(by: settings.configuredAgreement, assets)
        // From here on the receiver may act: a broker that dies now cannot know whether it did.
        let ceiling = now().advanced(by: settings.ceiling)
        let version = request.protocolVersion
        let wish = attempts.begin(id)
        defer { attempts.end(id) }
        guard
          try await results.recordSubmission(claimed, ceiling: ceiling, version: version)
        else { return }
        let result = await run(request, assets, until: wish)
        claims.circuit?.note(result.error, of: id, in: health)
        showHealth()
        try await record(result, of: id)
      }
    } catch let error as ResultError where error.code == .versionIncompatible {
      await refuse(id, error)
      await claims.giveBack(claimed)
    } catch {
      // What was submitted keeps its status: recovery at the next start decides it.
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

  /// Runs the receiver to its end, which a wish to cancel brings about.
  private func run(
    _ request: HandoffRequest,
    _ assets: [GrantedAsset],
    until wish: WakeSignal
  ) async -> HandoffResult {
    await withTaskGroup(of: HandoffResult?.self) { group in
      group.addTask { await receiver.deliver(request, assets: assets.map(\.path)) }
      group.addTask {
        await wish.wait()
        return nil
      }
      var result: HandoffResult?
      for await ended in group {
        result = result ?? ended
        group.cancelAll()
      }
      guard let result else { preconditionFailure("a delivery gives a result, whatever ends it") }
      return result
    }
  }

  /// Ends the processes of what people wish cancelled; the end of each brings its result.
  private func carryWishes() async {
    while !Task.isCancelled {
      showHealth()
      do {
        for claimed in try await ledger.cancelWishes(destination: settings.name) {
          attempts.wish(claimed.handoff.id)
        }
      } catch {
        logger.error(
          "What is to be cancelled cannot be read",
          [.destination: settings.name.text, .error: "\(error)"]
        )
      }
      await wishes.wait(atMost: Self.longestRest)
    }
  }

  private static let longestRest: Duration = .seconds(30)

  /// The process has ended, so nobody can be asked for the result again.
  ///
  /// The write must survive the stop that ended the receiver, so it has a task of its own, awaited at once.
  private func record(_ result: HandoffResult, of id: Handoff.ID) async throws {
    let fields: [LogKey: String] = [
      .handoffID: id.description, .destination: settings.name.text,
    ]
    let write = LastingWrite(stop: stop, logger: logger)
    _ = try await Task {
      try await write.run("The result of a handoff waits to be recorded", fields) {
        // The broker's own doing is no word of the receiver.
        if case .failure(let error) = result.outcome, receiver.wasEnded(error) {
          try await results.fail(id, error, side: .broker, retry: nil, endsWish: true)
        } else {
          try await results.take(result, from: settings)
        }
      }
    }.value
  }
}
