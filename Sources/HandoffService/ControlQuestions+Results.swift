import Destinations
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol

/// Results that come by themselves.
extension ControlQuestions {
  /// Takes a result for the handoff whose token it carries, if that is one of transport `url`.
  func takeResult(_ parameters: JSONValue?) async throws -> JSONValue {
    let result: HandoffResult
    do {
      let named = try WireCoder.document(ResultParameters.self, from: parameters)
      result = try ReturnedResult.read(Array(named.text.utf8))
    } catch let error as ProtocolError {
      throw ControlError(.refused, error.description)
    }
    let destinations = configuration.destinations.filter { $0.transport == .url }
    do {
      let handoff = try await results.takeUnverified(
        result,
        of: destinations,
        among: Set(configuration.destinations.map(\.name))
      )
      return try WireCoder.value(try await report(handoff))
    } catch let error as ResultError {
      throw ControlError(Self.answer(to: error.code), "\(error.code): \(error.message)")
    }
  }

  private static func answer(to code: ErrorCode) -> ControlError.Code {
    switch code {
    case .unknownState: .notFound
    case .expired: .expired
    default: .refused
    }
  }
}
