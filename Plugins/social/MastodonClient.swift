import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// The five calls of the Mastodon API that publishing takes; see docs.joinmastodon.org.
struct MastodonClient: Sendable {
  let server: String
  let token: String
  private let http = HTTPClient(agent: "handoff-social/1.0")

  /// - Parameters:
  ///   - server: the base URL.
  ///   - token: of an account, with `write:media`, `write:statuses` and `read:accounts`,
  ///     `read:statuses`.
  init(server: String, token: String) {
    self.server = server.hasSuffix("/") ? String(server.dropLast()) : server
    self.token = token
  }

  /// POST /api/v2/media: 200 when it is ready, 202 when it is still worked on.
  func upload(
    _ asset: GrantedAsset,
    progress: @Sendable (Double) async -> Void
  ) async throws -> HTTPReply {
    var request = request("POST", "/api/v2/media")
    let type = Self.contentType(asset.container)
    let file = HTTPFormPart.file(
      "file",
      HTTPFileSlice(asset.path, count: asset.size),
      named: "\(asset.localIdentifier.uuid).\(type.ending)",
      contentType: type.name
    )
    request.body = .form([file])
    // A long video on a slow line takes hours; no bytes for a minute end it.
    request.limits.total = nil
    return try await http.exchange(request, progress: progress)
  }

  /// GET /api/v1/media/:id: 200 ready, 206 still worked on.
  func media(_ id: String) async throws -> HTTPReply {
    try await http.exchange(request("GET", "/api/v1/media/\(id)"))
  }

  /// POST /api/v1/statuses.
  ///
  /// The server keeps the key for an hour and answers a repetition with the status that it has made.
  func publish(_ status: JSONValue, key: String) async throws -> HTTPReply {
    var request = request("POST", "/api/v1/statuses")
    request.headers.append(("Idempotency-Key", key))
    request.body = .bytes(try WireCoder.encode(status), contentType: "application/json")
    return try await http.exchange(request)
  }

  /// GET /api/v1/accounts/verify_credentials: whose token it is.
  func account() async throws -> HTTPReply {
    try await http.exchange(request("GET", "/api/v1/accounts/verify_credentials"))
  }

  /// GET /api/v1/accounts/:id/statuses, newest first.
  func statuses(of account: String, olderThan id: String?) async throws -> HTTPReply {
    let page = id.map { "&max_id=\($0)" } ?? ""
    return try await http.exchange(
      request("GET", "/api/v1/accounts/\(account)/statuses?limit=40\(page)")
    )
  }

  /// An id that can stand in a path; the server's word alone is not enough.
  static func id(_ value: JSONValue?) -> String? {
    guard let text = value?.text, !text.isEmpty, text.utf8.count <= 128,
      text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    else { return nil }
    return text
  }

  private func request(_ method: String, _ path: String) -> HTTPRequest {
    HTTPRequest(
      method,
      server + path,
      headers: [("Authorization", "Bearer \(token)"), ("Accept", "application/json")]
    )
  }

  private static func contentType(_ container: String?) -> (name: String, ending: String) {
    switch container {
    case "mov": ("video/quicktime", "mov")
    case "webm": ("video/webm", "webm")
    case "matroska": ("video/x-matroska", "mkv")
    default: ("video/mp4", "mp4")
    }
  }
}

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
