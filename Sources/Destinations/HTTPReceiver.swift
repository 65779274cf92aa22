import Digests
import HTTPClient
package import HandoffCore
package import HandoffProtocol
package import Webhooks

/// The `http` transport: a signed POST for each handoff (Standard Webhooks).
package struct HTTPReceiver: Sendable {
  private let settings: DestinationSettings
  private let signer: WebhookSigner
  private let client: HTTPClient
  private let now: @Sendable () -> Timestamp

  /// How long a receiver has to say that it has taken a request.
  private static let accepting: Duration = .seconds(30)
  private static let longestAnswer = 65_536

  /// - Parameters:
  ///   - settings: the destination, with a `url`.
  ///   - secrets: the present one first, then the one before it; not empty.
  ///   - agent: what `User-Agent` says.
  ///   - now: the present moment.
  package init(
    _ settings: DestinationSettings,
    secrets: [WebhookSecret],
    agent: String,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.settings = settings
    signer = WebhookSigner(secrets)
    client = HTTPClient(agent: agent)
    self.now = now
  }

  /// Sends one request and says how that ended; never throws, for every end is one.
  ///
  /// Cancelling the task ends the exchange: `interrupted`, effect unknown.
  ///
  /// - Parameters:
  ///   - request: the document, with its state token.
  ///   - handoffID: what is shown of the handoff everywhere, as `h12`.
  ///   - grant: lets the receiver read the assets of this handoff; not the state token.
  ///   - assets: the URL under which it reads them: `ASSETS/{uuid}/data`.
  /// - Returns: what it means; the effect is `unknown` wherever the receiver may have acted.
  package func deliver(
    _ request: HandoffRequest,
    handoffID: String,
    grant: String,
    assets: String
  ) async -> HTTPDelivery {
    do {
      return try await send(request, handoffID, grant: grant, assets: assets)
    } catch is CancellationError {
      let error = ResultError(.interrupted, "the broker is stopping", effect: .unknown)
      return ended(request, error)
    } catch {
      // Nothing has been sent when the document or its signature could not be made.
      let failure =
        error as? ResultError
        ?? ResultError(.destinationUnavailable, "\(error)", effect: .none, retry: .later)
      return ended(request, failure)
    }
  }

  private func ended(_ request: HandoffRequest, _ error: ResultError) -> HTTPDelivery {
    .result(
      HandoffResult(
        state: request.state,
        outcome: .failure(error),
        version: request.protocolVersion
      )
    )
  }

  /// What names a handoff to its receiver: the same over all attempts, and no other's, also where another
  /// ledger counts its handoffs from one.
  package static func webhookID(_ handoffID: String, _ state: StateToken) throws -> String {
    let digest = try SHA256.digest(of: Array("webhook-id \(state.revealed)".utf8))
    return "\(handoffID)-\(Array(digest.prefix(12)).hexDigits)"
  }

  private func send(
    _ request: HandoffRequest,
    _ handoffID: String,
    grant: String,
    assets: String
  ) async throws -> HTTPDelivery {
    if Task.isCancelled {
      throw ResultError(.interrupted, "the broker is stopping", effect: .none, retry: .later)
    }
    let redaction = TokenRedaction(capacity: 2)
    redaction.add(request.state)
    if let grant = Grant(grant) { redaction.add(grant) }
    let outcome = HTTPOutcome(
      answer: settings.answer,
      isIdempotent: settings.retry.repeatsUnknown,
      request: request,
      redaction: redaction
    )
    let message = try message(request, handoffID, grant: grant, assets: assets)
    do {
      let reply = try await client.exchange(message)
      return outcome.delivery(of: reply, now: now().milliseconds / 1000)
    } catch let failure as HTTPFailure {
      return outcome.delivery(of: failure)
    }
  }

  private func message(
    _ request: HandoffRequest,
    _ handoffID: String,
    grant: String,
    assets: String
  ) throws -> HTTPRequest {
    let document = try WireCoder.encode(request)
    guard document.count <= HandoffRequest.maximumSize else {
      throw ResultError(.malformedRequest, "the request is too large", effect: .none)
    }
    let id = try Self.webhookID(handoffID, request.state)
    var message = HTTPRequest(
      "POST",
      settings.url ?? "",
      headers: try signer.headers(id: id, at: now(), body: document) + [
        ("Accept", "application/json"), ("Handoff-Destination", settings.name.text),
        ("Handoff-Grant", grant), ("Handoff-Assets", assets),
      ],
      body: .bytes(document, contentType: "application/json")
    )
    // A receiver whose response is the answer may take as long as one of another kind may be silent.
    let limit = settings.answer == .status ? settings.idle : min(settings.idle, Self.accepting)
    message.limits.total = limit
    message.limits.stall = limit
    message.limits.body = Self.longestAnswer
    return message
  }
}
