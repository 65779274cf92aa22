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
    let order = try SendOrder(asked.request, configuration, now: now()).order
    do {
      let (handoff, _) = try await ledger.create(order, again: asked.again)
      return HandoffReport(handoff)
    } catch let error as LedgerError {
      throw error.refusal
    }
  }

  /// Says what would become of it.
  func dryRun(_ parameters: JSONValue?) async throws -> DryRunReport {
    let asked = try Self.document(parameters)
    let order = try SendOrder(asked.request, configuration, now: now()).order
    guard let settings = configuration.destination(order.destination) else {
      throw ControlError(.notFound, "there is no destination \(order.destination)")
    }
    return try await dryRun.report(order, to: settings)
  }

  private static func document(_ parameters: JSONValue?) throws -> SendParameters {
    do {
      return try WireCoder.document(SendParameters.self, from: parameters)
    } catch let error as ProtocolError {
      throw ControlError(refusal: ResultError(error.code, error.message, effect: .none))
    }
  }
}
