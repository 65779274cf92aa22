import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Speaks to one wiki's `api.php` for one account.
///
/// Every request says that it is made by that account (`assert`), so that a lost session publishes nothing under
/// the machine's address. A lost session and a bad token are made anew, once.
actor MediaWikiSession {
  private let api: String
  private let user: String?
  /// The bot password or the access token.
  private let secret: @Sendable () throws(ResultError) -> String
  private let http: HTTPClient
  private var login: MediaWikiLogin?
  private var logins = 0

  init(
    api: String,
    user: String?,
    secret: @escaping @Sendable () throws(ResultError) -> String
  ) {
    self.api = api
    self.user = user
    self.secret = secret
    // Wikimedia asks every program to say whose it is.
    let owner = user.map { $0.prefix { $0 != "@" } }.flatMap { name in
      name.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? " (User:\(name))" : nil
    }
    http = HTTPClient(agent: PlatformSettings.agent + (owner ?? ""))
  }

  /// What a request may need besides its parameters.
  struct Sending: Sendable {
    var file: HTTPFileSlice?
    /// Some work is done before the first byte of the answer.
    var isSlow = false
    var progress: @Sendable (Double) async -> Void = { _ in }
  }

  /// Asks for something.
  func read(_ parameters: [String: String]) async throws -> JSONValue {
    try await asking(parameters, needsToken: false, Sending())
  }

  /// Changes something.
  func write(_ parameters: [String: String], _ sending: Sending = Sending()) async throws
    -> JSONValue
  {
    try await asking(parameters, needsToken: true, sending)
  }

  /// Is logged in, and has a token.
  func open() async throws {
    _ = try await token(of: try await current())
  }

  private func asking(
    _ parameters: [String: String],
    needsToken: Bool,
    _ sending: Sending
  ) async throws -> JSONValue {
    var isRepeated = false
    while true {
      let login = try await current()
      var parameters = parameters
      parameters["assert"] = "user"
      parameters["maxlag"] = "5"
      if needsToken { parameters["token"] = try await token(of: login) }
      do {
        return try await call(parameters, login, sending)
      } catch let fault as MediaWikiFault where !isRepeated && fault.code == "badtoken" {
        forget(tokenOf: login)
      } catch let fault as MediaWikiFault
        where !isRepeated && user != nil && fault.code == "assertuserfailed"
      {
        if self.login?.number == login.number { self.login = nil }
      }
      isRepeated = true
    }
  }

  private func current() async throws -> MediaWikiLogin {
    if let login { return login }
    let made = try await logIn()
    // Another handoff may have logged in meanwhile.
    if let login { return login }
    login = made
    return made
  }

  private func token(of login: MediaWikiLogin) async throws -> String {
    if let held = self.login, held.number == login.number, let token = held.token { return token }
    let answer = try await call(
      ["action": "query", "meta": "tokens", "assert": "user", "maxlag": "5"],
      login,
      Sending()
    )
    guard let token = answer["query"]?["tokens"]?["csrftoken"]?.text else {
      throw MediaWikiFault("notoken", "the wiki gives no token")
    }
    if self.login?.number == login.number { self.login?.token = token }
    return token
  }

  private func forget(tokenOf login: MediaWikiLogin) {
    if self.login?.number == login.number { self.login?.token = nil }
  }

  private func logIn() async throws -> MediaWikiLogin {
    logins += 1
    var login = MediaWikiLogin(number: logins)
    // An access token goes with each request.
    guard let user else { return login }
    let first = try await exchange(
      ["action": "query", "meta": "tokens", "type": "login"],
      login,
      Sending()
    )
    login.take(first.cookies)
    guard let token = try MediaWikiFault.answer(first)["query"]?["tokens"]?["logintoken"]?.text
    else {
      throw MediaWikiFault("notoken", "the wiki gives no token to log in with")
    }
    let password = try secret()
    let second = try await exchange(
      ["action": "login", "lgname": user, "lgpassword": password, "lgtoken": token],
      login,
      Sending()
    )
    login.take(second.cookies)
    let result = try MediaWikiFault.answer(second.hiding(password))["login"]
    guard result?["result"]?.text == "Success" else { throw MediaWikiLogin.refusal(result) }
    return login
  }

  private func call(
    _ parameters: [String: String],
    _ login: MediaWikiLogin,
    _ sending: Sending
  ) async throws -> JSONValue {
    let reply = try await exchange(parameters, login, sending)
    if self.login?.number == login.number { self.login?.take(reply.cookies) }
    return try MediaWikiFault.answer(reply)
  }

  private func exchange(
    _ parameters: [String: String],
    _ login: MediaWikiLogin,
    _ sending: Sending
  ) async throws -> HTTPReply {
    var request = HTTPRequest("POST", api, headers: [("Accept", "application/json")])
    let token = user == nil ? try secret() : nil
    if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
    if !login.cookies.isEmpty {
      let pairs = login.cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      request.headers.append(("Cookie", pairs.joined(separator: "; ")))
    }
    var parameters = parameters
    parameters["format"] = "json"
    parameters["formatversion"] = "2"
    parameters["uselang"] = "en"
    var parts = parameters.sorted { $0.key < $1.key }.map { HTTPFormPart.text($0.key, $0.value) }
    if let slice = sending.file {
      parts.append(.file("chunk", slice, named: "chunk", contentType: "application/octet-stream"))
      request.limits.total = nil
    }
    if sending.isSlow {
      // It digests and moves the whole file before it answers.
      request.limits.total = nil
      request.limits.stall = .seconds(600)
    }
    request.body = .form(parts)
    let reply = try await http.exchange(request, progress: sending.progress)
    return token.map { reply.hiding($0) } ?? reply
  }
}
