import HTTPServer
import HandoffLog
import HandoffProtocol
import Webhooks

/// `POST /v3/results`: where receivers bring results, signed with their destination's secret.
struct ResultDoor: Sendable {
  let surroundings: APISurroundings
  let logger: Logger

  /// How soon a result that could not be recorded is to be sent again, in seconds.
  private static let recovery = 5

  func take(_ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
    let signers = try signers(of: request)
    let result: HandoffResult
    do {
      result = try WireCoder.decode(
        HandoffResult.self,
        from: request.body,
        limit: HandoffResult.maximumSize
      )
    } catch {
      throw Problem(400, .malformedResult, (error as? ProtocolError)?.message ?? "no result")
    }
    do {
      try await surroundings.takeResult(result, signers)
    } catch let error as ResultError {
      throw Problem(error)
    } catch {
      // Not recorded: the receiver keeps it and sends it again.
      logger.error(
        "A result could not be recorded",
        [.destination: signers.map(\.text).joined(separator: ", "), .error: "\(error)"]
      )
      throw Problem(
        503,
        .destinationUnavailable,
        "not recorded; send it again",
        retryAfter: Self.recovery
      )
    }
    return HTTPResponse(
      200,
      ["Content-Type": "application/json"],
      body: .bytes(Array(#"{"recorded":true}"#.utf8))
    )
  }

  /// The destinations one of whose secrets has signed the request: several may share one, and then the
  /// token says whose result it is.
  private func signers(of request: HTTPRequest) throws(Problem) -> [DestinationName] {
    do throws(WebhookError) {
      let webhook = try ReceivedWebhook(body: request.body) { request.head.headers[$0] }
      try webhook.checkAge(now: surroundings.now())
      var signers: [DestinationName] = []
      for (name, secrets) in surroundings.secrets {
        for secret in secrets where try webhook.isSigned(with: secret) {
          signers.append(name)
          break
        }
      }
      guard !signers.isEmpty else { throw .noSignatureFits }
      return signers.sorted()
    } catch {
      throw Self.problem(error)
    }
  }

  private static func problem(_ error: WebhookError) -> Problem {
    switch error {
    case .noDigests: Problem(503, .destinationUnavailable, "signatures cannot be checked now")
    case .missingHeader, .malformedHeader, .tooOld, .tooNew, .noSignatureFits:
      Problem(401, .auth, "\(error)")
    }
  }
}
