import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Turns what a server refuses into the protocol's words, by its status and by what it says.
///
/// All of these leave nothing published: an upload that no status shows is removed by the server.
enum MastodonRefusal {
  static func error(_ reply: HTTPReply, _ doing: String) -> ResultError {
    let message = "\(doing): HTTP \(reply.status)\(said(reply))"
    func refusal(_ code: ErrorCode, _ retry: RetryAdvice, remedy: String? = nil) -> ResultError {
      ResultError(
        code,
        message,
        effect: .none,
        retry: retry,
        retryAfter: retry == .later ? reply.wait : nil,
        remedy: remedy
      )
    }
    switch reply.status {
    case 401, 403: return refusal(.auth, .afterFix, remedy: MastodonScopes.remedy)
    case 429: return refusal(.quota, .later)
    case 413: return refusal(.sizeOutOfRange, .never)
    case 400, 422:
      // Too near for the server's clock is soon so near that it is published at the moment itself.
      if says(reply, "not finished processing", "try again", "scheduled date") {
        return refusal(.destinationUnavailable, .later)
      }
      let isSize = says(reply, "too large", "file size must be less", "exceeds", "too big")
      return refusal(isSize ? .sizeOutOfRange : .unsupportedMedia, .never)
    case 415: return refusal(.unsupportedMedia, .never)
    case 501: return refusal(.unsupportedMedia, .never, remedy: "This server cannot do that.")
    case 408, 500...: return refusal(.network, .later)
    default: return noMastodon(message)
    }
  }

  /// Something else listens there.
  static func noMastodon(_ message: String) -> ResultError {
    .notConfigured(message, remedy: "Check settings.server: this does not answer as Mastodon does.")
  }

  /// The server's own sentence.
  private static func said(_ reply: HTTPReply) -> String {
    reply.json?["error"]?.text.map { ", \($0.prefix(200))" } ?? ""
  }

  private static func says(_ reply: HTTPReply, _ words: String...) -> Bool {
    guard let text = reply.json?["error"]?.text?.lowercased() else { return false }
    return words.contains { text.contains($0) }
  }
}

/// What a token must be allowed to do.
enum MastodonScopes {
  static let needed = ["read:accounts", "read:statuses", "write:media", "write:statuses"]
  static let remedy =
    "Give the destination an access token with \(needed.joined(separator: ", "))."

  /// - Throws: `auth`, where the server says that one is missing. A scope includes what is below it.
  static func check(_ scopes: Set<String>) throws(ResultError) {
    let missing = needed.filter { scope in
      let whole = scope.split(separator: ":").first.map(String.init) ?? scope
      return !scopes.contains(scope) && !scopes.contains(whole)
    }
    guard !missing.isEmpty else { return }
    throw ResultError(
      .auth,
      "the token's application may not \(missing.joined(separator: ", "))",
      effect: .none,
      retry: .afterFix,
      remedy: remedy
    )
  }
}

extension HTTPReply {
  /// Seconds to wait: `Retry-After`, or Mastodon's `X-RateLimit-Reset`, which is a moment.
  var wait: Int? {
    let now = SystemMoment.now()
    if let seconds = retryAfter(now: now.milliseconds / 1000) { return seconds }
    guard status == 429, let text = headers["x-ratelimit-reset"],
      let reset = Timestamp(rfc3339: text)
    else { return nil }
    // At most a year, as Retry-After.
    return Int(min(max(0, reset.since(now).components.seconds), 31_536_000) + 1)
  }

  /// The upload is in a status already, in the words of GoToSocial and Mastodon.
  var saysUsedUp: Bool {
    guard let text = json?["error"]?.text?.lowercased() else { return false }
    return (status == 400 || status == 422)
      && ["already attached", "already been attached"].contains { text.contains($0) }
  }
}
