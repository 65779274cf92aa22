import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Turns what a server refuses, or that it cannot be reached, into the protocol's words.
///
/// All of these leave nothing published: an upload that no status shows is removed by the server.
enum Refusal {
  /// What a status means; the moment is for limits that are told as one.
  static func error(_ reply: HTTPReply, _ doing: String, now: Timestamp) -> ResultError {
    let message = "\(doing): HTTP \(reply.status)\(said(reply))"
    switch reply.status {
    case 401, 403:
      return ResultError(
        .auth,
        message,
        effect: .none,
        retry: .afterFix,
        remedy: "Give the destination an access token with write:media and write:statuses."
      )
    case 429:
      return ResultError(
        .quota,
        message,
        effect: .none,
        retry: .later,
        retryAfter: wait(reply, now: now)
      )
    case 400, 413, 415, 422:
      return ResultError(.unsupportedMedia, message, effect: .none)
    case 500...:
      return ResultError(
        .network,
        message,
        effect: .none,
        retry: .later,
        retryAfter: wait(reply, now: now)
      )
    default:
      return ResultError.notConfigured(
        message,
        remedy: "Check settings.server: this does not answer as Mastodon does."
      )
    }
  }

  /// There was no answer, and nothing was published.
  static func error(_ failure: HTTPFailure, _ doing: String) -> ResultError {
    ResultError(.network, "\(doing): \(failure)", effect: .none, retry: .later)
  }

  /// `Retry-After`, or Mastodon's `X-RateLimit-Reset` as a moment.
  static func wait(_ reply: HTTPReply, now: Timestamp) -> Int? {
    if let seconds = reply.retryAfter(now: now.milliseconds / 1000) { return seconds }
    guard let reset = reply.headers["x-ratelimit-reset"].flatMap({ Timestamp(rfc3339: $0) })
    else { return nil }
    return Int(max(0, reset.since(now).components.seconds) + 1)
  }

  /// The server's own sentence.
  private static func said(_ reply: HTTPReply) -> String {
    reply.json?["error"]?.text.map { ", \($0.prefix(200))" } ?? ""
  }
}
