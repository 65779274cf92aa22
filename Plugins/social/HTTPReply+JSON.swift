import HTTPClient
import HandoffProtocol

extension HTTPReply {
  /// The body as JSON; nil for anything else.
  var json: JSONValue? {
    do {
      return try WireCoder.decode(JSONValue.self, from: body)
    } catch {
      return nil
    }
  }
}
