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
        let ceiling = now().advanced(by: settings.ceiling)
        guard try await results.recordSubmission(claimed, ceiling: ceiling) else { return }
        guard let result = try await copy(claimed, assets) else { return }
        let obstacle = result.obstacle
        health.set(obstacle.map { .down($0) } ?? .up)
        try await record(result, of: id)
        await receiver.forget(id.description)
      }
    } catch {
      report(id, error)
    }
  }

  /// The result of the copying; nil where the handoff ended meanwhile and nothing was delivered.
  private func copy(
    _ claimed: ClaimedHandoff,
    _ assets: [GrantedAsset]
  ) async throws -> HandoffResult? {
    let id = claimed.handoff.id
    return try await withThrowingTaskGroup(of: HandoffResult?.self) { group in
      group.addTask {
        _ = try await changes.wait(for: id) {
          let isFinal = try await ledger.handoff(id)?.status.isFinal ?? true
          return isFinal ? true : nil
        }
        return nil
      }
      group.addTask {
        await receiver.deliver(
          claimed.request,
          handoff: id.description,
          assets: assets.map(\.inInbox)
        )
      }
      if let result = try await group.next().flatMap({ $0 }) {
        group.cancelAll()
        return result
      }
      // It was cancelled or has expired: what is not placed yet is not placed any more.
      group.cancelAll()
      let result = try await group.next().flatMap { $0 }
      return result?.isSuccess == true ? result : nil
    }
  }

  /// What was done cannot be found out later from the inbox alone, whose reader takes it away: the write
  /// has a task of its own that survives a stop.
  private func record(_ result: HandoffResult, of id: Handoff.ID) async throws {
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

  // MARK: After a restart

  private func recover() async {
    do {
      var undecided: Set<String> = []
      for claimed in try await ledger.openHandoffs(destination: settings.name) {
        let id = claimed.handoff.id
        do {
          if try await !decide(claimed) { undecided.insert(id.description) }
        } catch {
          report(id, error)
          undecided.insert(id.description)
        }
      }
      await receiver.sweep(keeping: undecided)
    } catch {
      logger.error(
        "What was open at a destination cannot be read",
        [.destination: settings.name.text, .error: "\(error)"]
      )
    }
  }

  /// Whether it is known now what became of a delivery.
  private func decide(_ claimed: ClaimedHandoff) async throws -> Bool {
    let id = claimed.handoff.id
    switch await receiver.standing(of: id.description) {
    case .delivered(let output):
      let result = HandoffResult(state: claimed.request.state, outcome: .success(output: output))
      try await record(result, of: id)
      return true
    case .notDelivered where claimed.handoff.status.isInFlight:
      try await results.fail(id, Self.interrupted, side: .broker, retry: settings.retry)
      return true
    case .unknown(let reason) where claimed.handoff.status.isInFlight:
      let error = ResultError(
        .interrupted,
        "the broker ended while it copied, and \(reason)",
        effect: .unknown,
        remedy: "look into the inbox, then `handoff adopt`, `retry` or `cancel`"
      )
      try await results.fail(id, error, side: .broker, retry: nil)
      return false
    case .notDelivered, .unknown:
      // A person was asked already, and decides.
      return false
    }
  }

  private static let interrupted = ResultError(
    .interrupted,
    "the broker ended while it copied",
    effect: .none,
    retry: .later
  )

  private func report(_ id: Handoff.ID, _ error: any Error) {
    // The row keeps its status; recovery at the next start, or the lease's end, takes it up again.
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

  /// Why the inbox cannot be used now; nil where it can, or the fault is another's.
  fileprivate var obstacle: String? {
    guard case .failure(let error) = outcome, error.code == .destinationUnavailable else {
      return nil
    }
    return error.message
  }
}
