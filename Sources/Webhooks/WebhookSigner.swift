public import HandoffProtocol

/// Signs webhooks as the Standard Webhooks specification says, with one secret or, while it is being
/// changed, with several.
public struct WebhookSigner: Sendable {
  private let secrets: [WebhookSecret]

  /// - Parameter secrets: the present one first; a receiver that knows any of them can verify.
  public init(_ secrets: [WebhookSecret]) {
    precondition(!secrets.isEmpty, "a webhook is signed with at least one secret")
    self.secrets = secrets
  }

  /// The three headers of a message, by name.
  ///
  /// - Parameters:
  ///   - id: the message's own, the same over all tries; printable ASCII without a full stop.
  ///   - moment: of this try.
  ///   - body: exactly the bytes that are sent.
  /// - Returns: name and value of each header, in the specification's order.
  /// - Throws: ``WebhookError``.
  public func headers(
    id: String,
    at moment: Timestamp,
    body: [UInt8]
  ) throws(WebhookError) -> [(name: String, value: String)] {
    guard WebhookHeader.isID(id) else { throw .malformedHeader(WebhookHeader.id) }
    let seconds = moment.milliseconds / 1000
    var signatures: [String] = []
    for secret in secrets {
      let code = try WebhookSignature.code(
        id: id,
        timestamp: seconds,
        body: body,
        secret: secret
      )
      signatures.append(WebhookSignature.text(of: code))
    }
    return [
      (WebhookHeader.id, id), (WebhookHeader.timestamp, "\(seconds)"),
      (WebhookHeader.signature, signatures.joined(separator: " ")),
    ]
  }
}
