import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

/// What senders ask.
extension ControlQuestions {
  /// Makes a handoff of what a sender's document asks for.
  func send(_ parameters: JSONValue?) async throws -> HandoffReport {
    let asked = try Self.document(parameters)
    let sent = try SendOrder(asked.request, isBulk: asked.isBulk, now: now())
    do {
      // A second try is answered with what the first one made, whatever has changed since.
      if sent.order.key != nil, let made = try await ledger.handoff(sameAs: sent.order) {
        return try await fullReport(made)
      }
      try sent.check(configuration)
      let (handoff, _) = try await ledger.create(sent.order, again: asked.again)
      return try await fullReport(handoff)
    } catch let error as LedgerError {
      throw error.refusal
    }
  }

  /// Says what would become of it.
  func dryRun(_ parameters: JSONValue?) async throws -> DryRunReport {
    let asked = try Self.document(parameters)
    let sent = try SendOrder(asked.request, now: now())
    if sent.order.key != nil, let report = try await dryRun.repeated(sent.order) { return report }
    return try await dryRun.report(
      sent.order,
      again: asked.again,
      planned: asked.planned,
      to: sent.check(configuration)
    )
  }

  private static func document(_ parameters: JSONValue?) throws -> SendParameters {
    do {
      return try WireCoder.document(SendParameters.self, from: parameters)
    } catch let error as ProtocolError {
      throw ControlError(refusal: ResultError(error.code, error.message, effect: .none))
    }
  }
}
