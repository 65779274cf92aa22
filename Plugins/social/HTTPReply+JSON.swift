import HTTPClient
import HandoffProtocol

extension HTTPReply {
  /// The body as JSON; nil for anything else.
  ///
  /// A list may be longer than the protocol's own documents; the limit of the request holds.
  var json: JSONValue? {
    do {
      return try WireCoder.decode(JSONValue.self, from: body, limit: .max)
    } catch {
      return nil
    }
  }

  /// The answer without a credential: some servers repeat in an error what they were sent, and an error is
  /// logged and kept.
  func hiding(_ secret: String) -> HTTPReply {
    let secret = Array(secret.utf8)
    guard secret.count >= 8, body.count >= secret.count else { return self }
    var reply = self
    reply.body = []
    var rest = body[...]
    while let start = rest.firstRange(of: secret)?.lowerBound {
      reply.body += rest[..<start] + Array("***".utf8)
      rest = rest[(start + secret.count)...]
    }
    reply.body += rest
    return reply
  }
}
