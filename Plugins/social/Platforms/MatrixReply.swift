import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// What a Matrix server answered: a status and, for a refusal, an error code in the body.
///
/// Both count: Synapse says 403 for a room that one may not write to and for a quota, and a proxy before it
/// says 403 without a code.
struct MatrixReply: Sendable {
  let status: Int
  let json: JSONValue?
  /// `M_FORBIDDEN` and the like; nil in what a proxy has answered.
  let errcode: String?
  /// Seconds that the server wants to be left alone.
  let wait: Int?
  /// What `Content-Length` says.
  let length: Int64?

  init(_ reply: HTTPReply) {
    status = reply.status
    json = reply.json
    errcode = json?["errcode"]?.text
    // The body's is the older one, in milliseconds.
    let milliseconds = json?["retry_after_ms"]?.integer ?? 0
    let told = reply.retryAfter(now: SystemMoment.now().milliseconds / 1000)
    let longest: Int64 = 31_536_000_000
    wait =
      milliseconds > 0
      ? max(told ?? 0, Int((min(milliseconds, longest) + 999) / 1000))
      : told
    length = reply.headers["content-length"].flatMap { Int64($0) }
  }

  var isSuccess: Bool { (200..<300).contains(status) }

  /// The server has refused, and certainly done nothing; a proxy's word is taken only for what a proxy says
  /// before it asks the server.
  var isRefusal: Bool {
    guard (400..<500).contains(status), status != 408 else { return false }
    return errcode != nil || [401, 403, 404, 405, 413, 429].contains(status)
  }

  /// What a refusal means; nothing was published.
  func error(_ doing: String) -> ResultError {
    let message = "\(doing): HTTP \(status)\(said)"
    switch (status, errcode) {
    case (_, "M_LIMIT_EXCEEDED"), (429, _):
      return quota(message, wait)
    case (_, "M_USER_LIMIT_EXCEEDED"), (_, "M_RESOURCE_LIMIT_EXCEEDED"):
      // A quota of bytes for an hour or a day: the server does not say when it has room again.
      return quota(message, wait ?? 600)
    case (401, _), (_, "M_UNKNOWN_TOKEN"), (_, "M_MISSING_TOKEN"), (_, "M_USER_DEACTIVATED"),
      (_, "M_USER_LOCKED"), (_, "M_USER_SUSPENDED"):
      return auth(message, "Log in again, and give the destination the new access token.")
    case (403, _):
      let remedy = "Have the account join the room, and give it the power to send messages there."
      return auth(message, remedy)
    case (413, _), (_, "M_TOO_LARGE"):
      return ResultError(.sizeOutOfRange, message, effect: .none)
    case (400, .some):
      return ResultError(.unsupportedMedia, message, effect: .none)
    case (500..., _):
      return ResultError(.network, message, effect: .none, retry: .later, retryAfter: wait)
    default:
      return .notConfigured(
        message,
        remedy: "Check settings.server and settings.room: this does not answer as Matrix 1.11 does."
      )
    }
  }

  private func quota(_ message: String, _ wait: Int?) -> ResultError {
    ResultError(.quota, message, effect: .none, retry: .later, retryAfter: wait)
  }

  private func auth(_ message: String, _ remedy: String) -> ResultError {
    ResultError(.auth, message, effect: .none, retry: .afterFix, remedy: remedy)
  }

  /// The server's own words.
  private var said: String {
    let words = [errcode, json?["error"]?.text].compactMap { $0 }
    return words.isEmpty ? "" : ", \(words.joined(separator: ": ").prefix(300))"
  }
}
