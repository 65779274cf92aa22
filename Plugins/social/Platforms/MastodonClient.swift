import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// The calls of the Mastodon API that publishing takes; see docs.joinmastodon.org.
struct MastodonClient: Sendable {
  let server: String
  /// Reads the token anew for each request.
  let token: @Sendable () throws(ResultError) -> String
  private let http = HTTPClient(agent: PlatformSettings.agent)

  init(server: String, token: @escaping @Sendable () throws(ResultError) -> String) {
    self.server = server
    self.token = token
  }

  /// How many of a list one page holds.
  static let page = 40

  /// POST /api/v2/media: 200 when it is ready, 202 when it is still worked on.
  func upload(_ upload: Upload) async throws -> HTTPReply {
    let type = upload.contentType
    let file = HTTPFormPart.file(
      "file",
      HTTPFileSlice(upload.asset.path, count: upload.asset.size),
      named: "\(upload.asset.localIdentifier.uuid).\(type.ending)",
      contentType: type.name
    )
    let description = upload.post.altText.map { [HTTPFormPart.text("description", $0)] }
    return try await ask("POST", "/api/v2/media", progress: upload.progress) { request in
      // The file comes last, so that a server that streams has the words before it.
      request.body = .form((description ?? []) + [file])
      // A long video on a slow line takes hours; no bytes for a minute end it.
      request.limits.total = nil
    }
  }

  /// GET /api/v1/media/:id: 200 ready, 206 still worked on, 422 when it could not be worked on.
  func media(_ id: String) async throws -> HTTPReply {
    try await get("/api/v1/media/\(id)")
  }

  /// POST /api/v1/statuses.
  ///
  /// The server keeps the key for an hour and answers a repetition with the status that it has made.
  func publish(_ status: JSONValue, key: String) async throws -> HTTPReply {
    let body = try WireCoder.encode(status)
    return try await ask("POST", "/api/v1/statuses") { request in
      request.headers.append(("Idempotency-Key", key))
      request.body = .bytes(body, contentType: "application/json")
    }
  }

  /// GET /api/v1/accounts/verify_credentials: whose token it is.
  func account() async throws -> HTTPReply {
    try await get("/api/v1/accounts/verify_credentials")
  }

  /// GET /api/v1/apps/verify_credentials: what the token's application may do; newer servers tell.
  func application() async throws -> HTTPReply {
    try await get("/api/v1/apps/verify_credentials")
  }

  /// GET /api/v1/accounts/:id/statuses, those with media, newest first.
  func statuses(of account: String, olderThan id: String?) async throws -> HTTPReply {
    try await get(
      "/api/v1/accounts/\(account)/statuses?only_media=true&limit=\(Self.page)\(Self.older(id))"
    )
  }

  /// GET /api/v1/scheduled_statuses, newest first.
  func scheduled(olderThan id: String?) async throws -> HTTPReply {
    try await get("/api/v1/scheduled_statuses?limit=\(Self.page)\(Self.older(id))")
  }

  /// GET /api/v1/scheduled_statuses/:id: 404 once it is published or deleted.
  func scheduled(_ id: String) async throws -> HTTPReply {
    try await get("/api/v1/scheduled_statuses/\(id)")
  }

  /// GET /api/v2/instance, and version 1 where the server does not know it.
  func instance() async throws -> HTTPReply {
    let reply = try await get("/api/v2/instance")
    return reply.status == 404 ? try await get("/api/v1/instance") : reply
  }

  /// An id that can stand in a path; the server's word alone is not enough.
  static func id(_ value: JSONValue?) -> String? {
    guard let text = value?.text, !text.isEmpty, text.utf8.count <= 128,
      text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    else { return nil }
    return text
  }

  private static func older(_ id: String?) -> String { id.map { "&max_id=\($0)" } ?? "" }

  private func get(_ path: String) async throws -> HTTPReply {
    // A page of long posts, each with its account, may be large.
    try await ask("GET", path) { $0.limits.body = 8 << 20 }
  }

  private func ask(
    _ method: String,
    _ path: String,
    progress: @Sendable (Double) async -> Void = { _ in },
    _ adjust: (inout HTTPRequest) -> Void
  ) async throws -> HTTPReply {
    let token = try token()
    var request = HTTPRequest(
      method,
      server + path,
      headers: [("Authorization", "Bearer \(token)"), ("Accept", "application/json")]
    )
    adjust(&request)
    return try await http.exchange(request, progress: progress).hiding(token)
  }
}
