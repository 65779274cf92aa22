import HTTPClient
import HandoffProtocol
import Webhooks

/// Brings a notice to the configured address: a signed POST (Standard Webhooks).
///
/// A status of 2xx means that it has arrived, 410 that nothing more is wanted; after anything else, and
/// where no answer comes, it is brought again under the same `webhook-id`.
struct NoticePost: Sendable {
  let address: String
  let callback: CallbackID
  let signer: WebhookSigner
  let client: HTTPClient
  let now: @Sendable () -> Timestamp

  /// As the specification recommends.
  private static let limit: Duration = .seconds(30)
  /// The answer is not read for what it says.
  private static let longestAnswer = 1024

  /// - Parameters:
  ///   - document: the notice as JSON.
  ///   - id: the notice's own, the same over all tries.
  /// - Throws: ``DeliveryFailure``, or `CancellationError` where the broker stops meanwhile.
  func send(_ document: [UInt8], id: String) async throws {
    var request = HTTPRequest(
      "POST",
      address,
      headers: try signer.headers(id: id, at: now(), body: document) + [
        ("Handoff-Callback", callback.text)
      ],
      body: .bytes(document, contentType: "application/json")
    )
    request.limits.total = Self.limit
    request.limits.stall = Self.limit
    request.limits.body = Self.longestAnswer
    let reply: HTTPReply
    do {
      reply = try await client.exchange(request)
    } catch let failure as HTTPFailure {
      throw DeliveryFailure("no answer: \(failure)")
    }
    switch reply.status {
    case 200..<300: return
    case 410: throw DeliveryFailure("HTTP 410: it wants no notices any more", .never)
    default:
      let wait = reply.retryAfter(now: now().milliseconds / 1000) ?? 0
      throw DeliveryFailure("HTTP \(reply.status)", .again(after: wait))
    }
  }
}
