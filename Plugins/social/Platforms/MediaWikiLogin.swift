import HandoffProtocol

/// What a login has given.
struct MediaWikiLogin: Sendable {
  private(set) var cookies: [String: String] = [:]
  /// For what changes something.
  var token: String?
  /// Tells one login from the next.
  let number: Int

  init(number: Int) {
    self.number = number
  }

  /// Takes what `Set-Cookie` says; MediaWiki takes one away by giving it the value `deleted`.
  mutating func take(_ set: [String]) {
    for cookie in set {
      let pair = cookie.prefix { $0 != ";" }
      guard let equals = pair.firstIndex(of: "=") else { continue }
      let value = String(pair[pair.index(after: equals)...])
      cookies[String(pair[..<equals])] = value == "deleted" ? nil : value
    }
  }

  /// Why there is none.
  static func refusal(_ result: JSONValue?) -> MediaWikiFault {
    let reason = result?["reason"]?.text ?? result?["result"]?.text ?? "no reason is given"
    let isThrottled =
      result?["result"]?.text == "Throttled" || reason.contains("too many recent login attempts")
    let wait = result?["wait"]?.integer ?? 300
    return MediaWikiFault(
      isThrottled ? "login-throttled" : "login-failed",
      "the login is refused: \(reason)",
      // At most a day.
      retryAfter: isThrottled ? Int(min(max(0, wait), 86_400)) : nil
    )
  }
}
