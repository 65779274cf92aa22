import HTTPClient
import HandoffPluginKit
import HandoffProtocol
import Synchronization

/// Asks a Matrix server; see the client-server API at spec.matrix.org.
final class MatrixClient: Sendable {
  private let settings: PlatformSettings
  private let http = HTTPClient(agent: PlatformSettings.agent)
  /// Where the API is; looked for once.
  private let base = Mutex<String?>(nil)

  init(_ settings: PlatformSettings) {
    self.settings = settings
  }

  /// Makes a request with the account's token.
  ///
  /// - Parameters:
  ///   - method: of HTTP.
  ///   - path: below `/_matrix`, its parts encoded.
  ///   - query: names and values, as they are.
  ///   - body: what is sent.
  ///   - adjust: how long it may take, and how much of the answer is read.
  ///   - progress: told the sent part of the body.
  /// - Returns: what was answered, a refusal too.
  /// - Throws: where there is no answer, no token or no Matrix server.
  func ask(
    _ method: String,
    _ path: String,
    query: [(name: String, value: String)] = [],
    body: HTTPRequest.Body = .none,
    adjust: @Sendable (inout HTTPLimits) -> Void = { _ in },
    progress: @Sendable (Double) async -> Void = { _ in }
  ) async throws -> MatrixReply {
    let token = try settings.token()
    let pairs = query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
    let question = pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))"
    var request = HTTPRequest(
      method,
      "\(try await home())/_matrix/\(path)\(question)",
      headers: [("Authorization", "Bearer \(token)"), ("Accept", "application/json")],
      body: body
    )
    adjust(&request.limits)
    return MatrixReply(try await http.exchange(request, progress: progress).hiding(token))
  }

  /// Makes a request and gives what a success has answered; throws a refusal.
  func get(_ path: String, _ doing: String) async throws -> JSONValue {
    let reply = try await ask("GET", path)
    guard reply.isSuccess, let json = reply.json else { throw reply.error(doing) }
    return json
  }

  /// Whose token it is: `@name:server`.
  func account() async throws -> String {
    let answer = try await get("client/v3/account/whoami", "asking whose token it is")
    guard let user = answer["user_id"]?.text, user.hasPrefix("@"), user.contains(":"),
      user.utf8.count <= 255
    else { throw ResultError.notConfigured("the server does not say whose token it is") }
    return user
  }

  /// The most bytes that the server takes; nil where it does not say.
  func uploadLimit() async throws -> Int64? {
    try await get("client/v1/media/config", "asking for the limits")["m.upload.size"]?.integer
  }

  /// The base URL of the API: `settings.server` itself, or what it names in `.well-known/matrix/client`.
  ///
  /// No token is sent to find out.
  private func home() async throws -> String {
    if let known = base.withLock({ $0 }) { return known }
    let found: String
    if try await speaksMatrix(settings.server) {
      found = settings.server
    } else {
      found = try await delegate()
    }
    base.withLock { $0 = found }
    return found
  }

  private func delegate() async throws -> String {
    let reply = try await http.exchange(
      HTTPRequest("GET", "\(settings.server)/.well-known/matrix/client")
    )
    guard reply.status == 200, let url = reply.json?["m.homeserver"]?["base_url"]?.text else {
      throw ResultError.notConfigured(
        "\(settings.server) is no Matrix server, and names none in .well-known/matrix/client"
      )
    }
    let trimmed = url.hasSuffix("/") ? String(url.dropLast()) : url
    // The token must not leave a protected line for an open one, nor this machine on one.
    let isLocal = settings.server.hasPrefix("http://")
    let isAsSafe = trimmed.hasPrefix("https://") || isLocal
    guard isAsSafe, SocialSettings.isProtected(trimmed), try await speaksMatrix(trimmed) else {
      throw ResultError.notConfigured(
        "\(settings.server) names \(trimmed), which is no Matrix server"
      )
    }
    return trimmed
  }

  private func speaksMatrix(_ url: String) async throws -> Bool {
    let reply = try await http.exchange(HTTPRequest("GET", "\(url)/_matrix/client/versions"))
    if reply.status == 429 || reply.status >= 500 {
      throw MatrixReply(reply).error("asking for its versions")
    }
    guard reply.status == 200, case .array? = reply.json?["versions"] else { return false }
    return true
  }
}
