import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Puts the handoffs of one `file` destination into its inbox.
struct FileStage: Sendable {
  let settings: DestinationSettings
  let receiver: FileReceiver
  let delivery: DeliveryPreparation
  let ledger: Ledger
  let results: ResultStage
  let claims: ClaimLoop
  let changes: ChangeBroadcast
  let health: DestinationHealth
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// Decides what a broker before this one had begun, then runs until the service drains and what was
  /// claimed has ended.
  func run() async {
    health.setContainment(FileReceiver.containment)
    await recover()
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
        let request = try claimed.request(by: settings.configuredAgreement, assets)
        let ceiling = now().advanced(by: settings.ceiling)
        let version = request.protocolVersion
        guard
          try await results.recordSubmission(claimed, ceiling: ceiling, version: version),
          let result = await copy(claimed, request, assets)
        else { return }
        let obstacle = result.obstacle
        health.set(obstacle.map { .down($0) } ?? .up)
        claims.circuit?.note(result.error, of: id, in: health)
        try await record(result, of: id)
        await receiver.forget(id.description)
      }
    } catch let error as ResultError where error.code == .versionIncompatible {
      await refuse(id, error)
      await claims.giveBack(claimed)
    } catch {
      report(id, error)
      await claims.giveBack(claimed)
    }
  }

  /// Ends a handoff that the configured versions of the protocol cannot carry.
  private func refuse(_ id: Handoff.ID, _ error: ResultError) async {
    do {
      try await results.fail(id, error, side: .sender, retry: nil)
    } catch {
      report(id, error)
    }
  }

  private enum Part: Sendable {
    case copied(HandoffResult)
    /// A person wishes it cancelled.
    case unwanted
    /// It has expired.
    case ended
    /// The broker stops, or the ledger cannot be read: the copying goes on.
    case unwatched
  }

  /// The result of the copying; nil where the handoff ended meanwhile and nothing was delivered.
  private func copy(_ claimed: ClaimedHandoff, _ request: HandoffRequest, _ assets: [GrantedAsset])
    async -> HandoffResult?
  {
    let id = claimed.handoff.id
    return await withTaskGroup(of: Part.self) { group in
      group.addTask { await untilEnd(of: id) }
      group.addTask {
        let inInbox = assets.map(\.inInbox)
        return .copied(
          await receiver.deliver(request, handoff: id.description, assets: inInbox)
        )
      }
      var hasEnded = false
      var isUnwanted = false
      for await part in group {
        switch part {
        case .copied(let result):
          group.cancelAll()
          if isUnwanted, result.isWithoutEffect {
            return HandoffResult(state: request.state, outcome: .cancelled(nil))
          }
          return hasEnded && !result.isSuccess ? nil : result
        case .unwanted:
          isUnwanted = true
          group.cancelAll()
        case .ended:
          // What is not placed yet is not placed any more.
          hasEnded = true
          group.cancelAll()
        case .unwatched:
          break
        }
      }
      return nil
    }
  }

  private func untilEnd(of id: Handoff.ID) async -> Part {
    do {
      return try await changes.wait(for: id) { () -> Part? in
        guard let handoff = try await ledger.handoff(id), !handoff.status.isFinal else {
          return .ended
        }
        return handoff.cancelRequestedAt == nil ? nil : .unwanted
      }
    } catch is CancellationError {
      return .unwatched
    } catch {
      report(id, error)
      return .unwatched
    }
  }

  /// What was done cannot be found out later from the inbox alone, whose reader takes it away: the write
  /// has a task of its own that survives a stop.
  func record(_ result: HandoffResult, of id: Handoff.ID) async throws {
    let fields: [LogKey: String] = [
      .handoffID: id.description, .destination: settings.name.text,
    ]
    let write = LastingWrite(stop: stop, logger: logger)
    _ = try await Task {
      try await write.run("The result of a handoff waits to be recorded", fields) {
        do {
          try await results.take(result, from: settings)
        } catch let error as ResultError where error.code == .expired {
          // It ended while it was being placed: the ledger keeps that it was delivered after all.
        }
      }
    }.value
  }

  func report(_ id: Handoff.ID, _ error: any Error) {
    // What was submitted keeps its status: recovery at the next start decides it.
    logger.error(
      "A handoff could not be carried on",
      [.handoffID: id.description, .destination: settings.name.text, .error: "\(error)"]
    )
  }
}

extension GrantedAsset {
  fileprivate var inInbox: InboxAsset {
    InboxAsset(
      localIdentifier: asset.localIdentifier,
      digest: asset.digest,
      size: asset.size,
      path: path,
      name: asset.exportName
    )
  }
}

extension HandoffResult {
  fileprivate var isSuccess: Bool {
    if case .success = outcome { true } else { false }
  }

  /// It failed, and nothing got its name in the inbox.
  fileprivate var isWithoutEffect: Bool {
    guard case .failure(let error) = outcome else { return false }
    return error.effect == .none
  }

  /// Why the inbox cannot be used now; nil where it can, or the fault is another's.
  fileprivate var obstacle: String? {
    guard case .failure(let error) = outcome, error.code == .destinationUnavailable else {
      return nil
    }
    return error.message
  }
}
