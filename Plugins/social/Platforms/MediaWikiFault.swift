import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// What a wiki answers instead of what was asked for.
///
/// Nearly all of it comes with HTTP 200: the code says what it is.
struct MediaWikiFault: Error, Sendable {
  /// Of the API; `http` and a status where no API has answered.
  let code: String
  /// The wiki's own sentence.
  let info: String
  /// The whole error.
  let details: JSONValue
  let retryAfter: Int?

  init(_ code: String, _ info: String, details: JSONValue = .null, retryAfter: Int? = nil) {
    self.code = String(code.prefix(100))
    self.info = String(info.prefix(300))
    self.details = details
    self.retryAfter = retryAfter
  }

  /// An answer that is none of the API.
  init(_ reply: HTTPReply, now: Timestamp) {
    // What it answers to no parameters at all.
    let isHelp =
      reply.status == 200
      && String(decoding: reply.body.prefix(4096), as: UTF8.self).contains("MediaWiki API help")
    self.init(
      isHelp ? "api-help" : "http\(reply.status)",
      reply.status == 200 ? "no answer of api.php" : "HTTP \(reply.status)",
      retryAfter: reply.retryAfter(now: now.milliseconds / 1000)
    )
  }

  /// What the API has answered.
  static func answer(_ reply: HTTPReply) throws(MediaWikiFault) -> JSONValue {
    let now = SystemMoment.now()
    guard case .object(let members) = reply.json ?? .null else {
      throw MediaWikiFault(reply, now: now)
    }
    if let error = members["error"] {
      throw MediaWikiFault(
        error["code"]?.text ?? "unknown",
        [error["info"]?.text, error["readonlyreason"]?.text].compactMap { $0 }
          .joined(separator: " "),
        details: error,
        retryAfter: reply.retryAfter(now: now.milliseconds / 1000)
      )
    }
    guard reply.status == 200 else { throw MediaWikiFault(reply, now: now) }
    return .object(members)
  }

  /// A number in the error, which is a text in some versions.
  func number(_ name: String) -> Int64? {
    details[name]?.integer ?? details[name]?.text.flatMap { Int64($0) }
  }

  /// What has to happen before it can succeed.
  enum Kind: Sendable {
    case credentials
    case settings
    case limit
    case busy
    case media
    /// The stash does not have it.
    case lost
    /// Whatever else.
    case trouble
  }

  var kind: Kind {
    if let kind = Self.kinds[code] { return kind }
    if let kind = Self.prefixes.first(where: { code.hasPrefix($0.start) }) { return kind.kind }
    return .trouble
  }

  /// The request has certainly done nothing: it was refused before anything was published.
  var isCertain: Bool {
    switch kind {
    case .credentials, .settings, .limit, .busy, .media: true
    case .lost, .trouble: false
    }
  }

  private static let kinds: [String: Kind] = [
    "assertuserfailed": .credentials, "assertnameduserfailed": .credentials,
    "assertbotfailed": .credentials, "login-failed": .credentials, "badtoken": .credentials,
    "blocked": .credentials, "autoblocked": .credentials, "permissiondenied": .credentials,
    "badaccess-groups": .credentials, "mustbeloggedin": .credentials,
    "stashnotloggedin": .credentials, "readapidenied": .credentials,
    "writeapidenied": .credentials, "protectedpage": .credentials, "cantcreate": .credentials,
    "http401": .credentials, "http403": .credentials,
    "uploaddisabled": .settings, "noapiwrite": .settings, "http301": .settings,
    "http302": .settings, "http307": .settings, "http308": .settings, "http404": .settings,
    "http405": .settings, "http410": .settings,
    "ratelimited": .limit, "actionthrottledtext": .limit, "login-throttled": .limit,
    "http429": .limit,
    "readonly": .busy, "maxlag": .busy, "readonlytext": .busy,
    "verification-error": .media, "file-too-large": .media, "filetype-missing": .media,
    "empty-file": .media, "hookaborted": .media, "uploadvirus": .media, "emptyupload": .media,
    "illegal-filename": .media, "filename-toolong": .media, "filename-tooshort": .media,
    "http413": .media, "fileexists-forbidden": .media, "fileexists-shared-forbidden": .media,
    "uploadstash-file-not-found": .lost, "missingresult": .lost, "invalid-file-key": .lost,
  ]
  private static let prefixes: [(start: String, kind: Kind)] = [
    ("filetype-", .media), ("abusefilter-", .media), ("titleblacklist-", .media),
    ("spamblacklist", .media), ("spam", .media), ("mwoauth-", .credentials),
    ("globalblocking-", .credentials), ("uploadstash-", .lost), ("stash", .lost),
  ]

  /// In the protocol's words, where nothing was published.
  func error(_ doing: String) -> ResultError {
    let message = "\(doing): \(info) (\(code))"
    switch kind {
    case .credentials:
      return ResultError(
        .auth,
        message,
        effect: .none,
        retry: .afterFix,
        remedy: "Check settings.user and its password or token: it needs the grants to upload and "
          + "create files, and an account that is not blocked."
      )
    case .settings:
      return .notConfigured(
        message,
        remedy: "settings.server is the folder of the wiki's api.php; uploads must be enabled."
      )
    case .limit:
      return ResultError(
        .quota,
        message,
        effect: .none,
        retry: .later,
        retryAfter: retryAfter
      )
    case .busy:
      return ResultError(
        .destinationUnavailable,
        message,
        effect: .none,
        retry: .later,
        retryAfter: retryAfter
      )
    case .media: return ResultError(.unsupportedMedia, message, effect: .none)
    case .lost, .trouble:
      return ResultError(
        .network,
        message,
        effect: .none,
        retry: .later,
        retryAfter: retryAfter
      )
    }
  }
}
