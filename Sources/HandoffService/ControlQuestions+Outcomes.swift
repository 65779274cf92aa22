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
    let destination = try await ledger.handoff(id)?.destination
    let transport = destination.flatMap { configuration.destination($0) }?.transport
    let handoff = try await ledger.cancel(id) { transport?.cancelReach(from: $0) ?? .nobody }
    guard handoff.cancelRequestedAt != nil else {
      await results.follow(handoff)
      return handoff
    }
    wishes[handoff.destination]?.signal()
    changes.changed(id)
    let answered = try await changes.wait(for: id, atMost: Self.patience) { () -> Handoff? in
      let now = try await ledger.handoff(id)
      return now.flatMap { $0.status == handoff.status ? nil : $0 }
    }
    return answered ?? handoff
  }

  /// Has a handoff tried again.
  ///
  /// Where nobody knows what became of it, its receiver is asked first, if that is possible: what it says
  /// counts instead of another submission.
  ///
  /// - Throws: ``ControlError`` with `destination_unknown` where nothing would make the attempt.
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
    if let claimed = try await ledger.sent(id), claimed.handoff.status == .outcomeUnknown {
      await running.ask(about: claimed)
      if let known = try await ledger.handoff(id), known.status != .outcomeUnknown { return known }
    }
    let handoff = try await ledger.retry(id)
    await results.follow(handoff)
    return handoff
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
