import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

/// A person's decisions about how handoffs end, and about what a destination may have.
extension ControlQuestions {
  /// How long a receiver's answer to a wish is waited for before the person is told that it was asked.
  private static let patience: Duration = .seconds(2)

  /// Ends a handoff, or has its receiver asked to.
  ///
  /// - Returns: it as it is once the receiver has answered, or after a short time without that.
  func cancel(_ id: Handoff.ID) async throws -> Handoff {
    let before = try await ledger.handoff(id)
    let transport = before.flatMap { configuration.destination($0.destination) }?.transport
    var handoff = try await ledger.cancel(id) { transport?.cancelReach(from: $0) ?? .nobody }
    if before?.cancelRequestedAt != nil, transport == .plugin, running[handoff.destination] == nil {
      // Wished before, and there is still nobody to carry it to.
      handoff = try await ledger.recordUncertainCancel(id, .cannotBeAsked)
    }
    guard handoff.cancelRequestedAt != nil else {
      await results.follow(handoff)
      return handoff
    }
    wishes[handoff.destination]?.signal()
    changes.changed(id)
    let open = handoff
    let answered = try await changes.wait(for: id, atMost: Self.patience) { () -> Handoff? in
      let now = try await ledger.handoff(id)
      return now.flatMap { $0.status == open.status ? nil : $0 }
    }
    return answered ?? open
  }

  /// Has a handoff tried again.
  ///
  /// Where nobody knows what became of it, or it waits for a person, its receiver is asked first, if that
  /// is possible: what it says counts instead of another submission.
  ///
  /// - Throws: ``ControlError``, with `destination_unknown` where nothing would make the attempt.
  func retry(_ id: Handoff.ID) async throws -> Handoff {
    if let destination = try await ledger.handoff(id)?.destination,
      configuration.destination(destination) == nil
    {
      throw ControlError(
        refusal: ResultError(
          .destinationUnknown,
          "\(destination) is not configured any more: configure it again, or `handoff cancel \(id)`",
          effect: .none
        )
      )
    }
    if let claimed = try await ledger.sent(id) {
      let before = claimed.handoff.status
      if before == .outcomeUnknown || before == .needsUser {
        let standing = await running.ask(about: claimed)
        if before == .needsUser { try Self.refuseToRetry(id, standing) }
        if let known = try await ledger.handoff(id), known.status != before { return known }
      }
    }
    let handoff = try await ledger.retry(id)
    await results.follow(handoff)
    return handoff
  }

  /// What its receiver still holds is not submitted a second time.
  private static func refuseToRetry(
    _ id: Handoff.ID,
    _ standing: HandoffKnowledge.Standing?
  ) throws {
    switch standing {
    case .working:
      throw ControlError(.refused, "handoff \(id): its receiver is at work on it")
    case .needsUser:
      throw ControlError(
        .refused,
        "handoff \(id): its receiver still waits for a person there; do that, or cancel it first"
      )
    case .notReceived, .finished, .unknown, nil: return
    }
  }

  /// Takes a handoff for done.
  func adopt(_ id: Handoff.ID) async throws -> Handoff {
    let handoff = try await ledger.adopt(id)
    await results.follow(handoff)
    return handoff
  }

  /// Widens a limited destination by one asset.
  func allow(_ parameters: JSONValue?) async throws -> JSONValue {
    let asked = try WireCoder.document(AllowParameters.self, from: parameters)
    guard let name = DestinationName(asked.destination),
      let settings = configuration.destination(name)
    else {
      throw ControlError(.notFound, "there is no destination \(asked.destination)")
    }
    guard !settings.folders.isEmpty else {
      throw ControlError(.refused, "\(name) is not limited: it may have every asset")
    }
    do {
      let isNew = try await ledger.allow(asked.localIdentifier, to: name)
      let refused = try await ledger.handoffs(ofAsset: asked.localIdentifier).filter {
        $0.destination == name && $0.status == .refused && $0.error?.code == .accessLimited
      }
      return try WireCoder.value(
        AllowReport(
          localIdentifier: asked.localIdentifier,
          destination: name,
          wasAllowed: !isNew,
          refused: refused.map(\.id.description)
        )
      )
    } catch let error as LedgerError {
      throw error.refusal
    }
  }
}
