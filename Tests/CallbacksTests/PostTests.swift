import Callbacks
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Testing
import Webhooks

/// Callbacks that are addresses, at a server on the loopback interface.
@Suite("Callback posts", .timeLimit(.minutes(1)))
struct PostTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let old = "the secret before, which was a plain text"

  private func post(
    to address: String,
    secrets: [String] = [secret],
    _ body: [String: JSONValue] = [:]
  ) async throws {
    try await CallbackScene.with { scene in
      try await scene.delivery(.url(address), secrets: secrets).deliver(try scene.notice(body))
    }
  }

  private func failure(_ answer: LoopbackServer.Answer) async throws -> DeliveryFailure? {
    let server = try LoopbackServer { _ in answer }
    defer { server.stop() }
    return await #expect(throws: DeliveryFailure.self) { try await post(to: server.url) }
  }

  @Test("the notice comes as JSON, signed with the present and the former secret")
  func signed() async throws {
    let server = try LoopbackServer { _ in .reply(204) }
    defer { server.stop() }
    let secrets = [Self.secret, Self.old]
    for _ in 0..<2 {
      try await post(to: "\(server.url)/x?a=b", secrets: secrets, ["title": .string("ü")])
    }
    #expect(server.requests.count == 2)
    for sent in server.requests {
      #expect(sent.method == "POST")
      #expect(sent.target == "/x?a=b")
      #expect(sent.headers["content-type"] == "application/json")
      #expect(sent.headers["handoff-callback"] == "editor")
      // The same over all tries.
      #expect(sent.headers["webhook-id"] == "n7")
      let document = try WireCoder.decode([String: JSONValue].self, from: sent.body)
      #expect(document["notice_id"]?.text == "n7")
      #expect(document["title"]?.text == "ü")
      let webhook = try ReceivedWebhook(body: sent.body) { sent.headers[$0] }
      for secret in secrets {
        #expect(try webhook.verify([WebhookSecret(secret)], now: CallbackScene.now) == 0)
      }
      #expect(throws: WebhookError.noSignatureFits) {
        try webhook.verify(
          [WebhookSecret("another secret of enough bytes")],
          now: CallbackScene.now
        )
      }
    }
  }

  @Test("2xx has it, whatever it says", arguments: [200, 201, 202, 204, 299])
  func delivered(status: Int) async throws {
    let body = [UInt8](repeating: UInt8(ascii: "x"), count: 500_000)
    let server = try LoopbackServer { _ in .reply(status, body: status == 204 ? [] : body) }
    defer { server.stop() }
    try await post(to: server.url)
  }

  @Test(
    "any other status is tried again",
    arguments: [301, 302, 307, 400, 401, 404, 408, 409, 429, 500, 502, 503, 504]
  )
  func again(status: Int) async throws {
    let failure = try await failure(.reply(status, headers: [("Location", "http://evil.invalid/")]))
    #expect(failure?.next == .again(after: 0))
    #expect(failure?.reason.contains("\(status)") == true)
  }

  @Test("Retry-After is honoured")
  func retryAfter() async throws {
    let seconds = try await failure(.reply(429, headers: [("Retry-After", "120")]))
    #expect(seconds?.next == .again(after: 120))
    // The scene's moment is 08:00:01.5.
    let date = try await failure(
      .reply(503, headers: [("Retry-After", "Fri, 15 Jan 2027 08:01:01 GMT")])
    )
    #expect(date?.next == .again(after: 60))
  }

  @Test("410 wants no more")
  func gone() async throws {
    #expect(try await failure(.reply(410))?.next == .never)
  }

  @Test("no answer is tried again")
  func noAnswer() async throws {
    #expect(try await failure(.raw([]))?.next == .again(after: 0))
    let server = try LoopbackServer { _ in .reply(200) }
    server.stop()
    let failure = await #expect(throws: DeliveryFailure.self) { try await post(to: server.url) }
    #expect(failure?.next == .again(after: 0))
  }

  @Test("no redirection is followed")
  func redirection() async throws {
    let other = try LoopbackServer { _ in .reply(200) }
    defer { other.stop() }
    _ = try await failure(.reply(308, headers: [("Location", other.url)]))
    #expect(other.requests.isEmpty)
  }

  @Test(
    "Case 89: an address in a notice is text, and nobody there is contacted",
    arguments: [
      "URL", "//HOST", "/\\HOST", "http://127.0.0.1@HOST/", "a\r\nHost: HOST",
      "javascript:alert(1)",
      "file:///etc/passwd",
    ]
  )
  func addresses(template: String) async throws {
    let evil = try LoopbackServer { _ in .reply(200) }
    defer { evil.stop() }
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let address = template.replacing("URL", with: evil.url)
      .replacing("HOST", with: "127.0.0.1:\(evil.port)")
    var body: [String: JSONValue] = ["output": .object(["url": .string(address)])]
    for name in ["url", "callback_id", "title", "key", "reason", "path", "handoff_id"] {
      body[name] = .string(address)
    }
    try await post(to: server.url, body)
    #expect(server.requests.count == 1)
    #expect(evil.requests.isEmpty)
    #expect(server.requests.first?.headers["host"] == "127.0.0.1:\(server.port)")
  }
}
