import Destinations
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Testing
import Webhooks

/// Deliveries to a server on the loopback interface.
@Suite("http receivers", .timeLimit(.minutes(1)))
struct HTTPReceiverTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let old = "the secret before, which was a plain text"
  private static let now = Timestamp(milliseconds: 1_800_000_001_500)

  private func document(_ token: String = "7.abcdefghijklmnopqrstuvwxyz") throws -> HandoffRequest {
    HandoffRequest(
      localIdentifiers: [
        try #require(LocalIdentifier("69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"))
      ],
      state: try #require(StateToken(token)),
      title: "A cut"
    )
  }

  private func receiver(
    _ url: String,
    secrets: [String] = [secret],
    _ change: (inout DestinationSettings) -> Void = { _ in }
  ) throws -> HTTPReceiver {
    let name = try #require(DestinationName("hook"))
    var settings = DestinationSettings(name: name, transport: .http, command: [])
    settings.url = url
    settings.answer = .status
    change(&settings)
    return HTTPReceiver(
      settings,
      secrets: try secrets.map { try WebhookSecret($0) },
      agent: "handoff/test",
      now: { Self.now }
    )
  }

  private func deliver(_ receiver: HTTPReceiver, _ request: HandoffRequest) async -> HTTPDelivery {
    await receiver.deliver(
      request,
      handoffID: "h7",
      grant: "h7.grant",
      assets: "http://127.0.0.1:1/v3/assets"
    )
  }

  private func failed(_ delivery: HTTPDelivery) -> ResultError? {
    guard case .result(let result) = delivery, case .failure(let error) = result.outcome else {
      return nil
    }
    return error
  }

  @Test("neither the token nor the grant is in what is said of an answer")
  func quoting() async throws {
    let request = try document()
    let body = "no: h7.grant, \(request.state.revealed)"
    let server = try LoopbackServer { _ in
      .reply(400, headers: [("Content-Type", "text/plain")], body: Array(body.utf8))
    }
    defer { server.stop() }
    let error = try #require(failed(await deliver(try receiver(server.url), request)))
    #expect(error.message == "HTTP 400: no: (grant), (state token)")
  }

  @Test("the request comes signed, with its grant, and says where the assets are")
  func request() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let request = try document()
    let secrets = [Self.secret, Self.old]
    let delivery = await deliver(
      try receiver("\(server.url)/hook?a=1", secrets: secrets),
      request
    )
    guard case .result(let result) = delivery else {
      Issue.record("no result")
      return
    }
    #expect(result.outcome == .success(output: [:]))
    #expect(result.state.matches(request.state))
    let sent = try #require(server.requests.first)
    #expect(sent.method == "POST")
    #expect(sent.target == "/hook?a=1")
    #expect(sent.headers["content-type"] == "application/json")
    #expect(sent.headers["handoff-destination"] == "hook")
    #expect(sent.headers["handoff-grant"] == "h7.grant")
    #expect(sent.headers["handoff-assets"] == "http://127.0.0.1:1/v3/assets")
    #expect(sent.headers["user-agent"] == "handoff/test")
    let received = try WireCoder.decode(HandoffRequest.self, from: sent.body)
    #expect(received.state.matches(request.state))
    #expect(received.title == "A cut")
    // No header tells the token.
    #expect(!sent.headers.values.contains { $0.contains(request.state.revealed) })
    for secret in secrets {
      let webhook = try ReceivedWebhook(body: sent.body) { sent.headers[$0] }
      #expect(try webhook.verify([WebhookSecret(secret)], now: Self.now) == 0)
      #expect(webhook.id.hasPrefix("h7-"))
    }
  }

  @Test("the webhook-id is the same over attempts, and another ledger's h7 has another")
  func webhookID() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    defer { server.stop() }
    let receiver = try receiver(server.url)
    var again = try document()
    again.attempt = 2
    for request in [try document(), again, try document("7.another-token-of-another-ledger")] {
      _ = await deliver(receiver, request)
    }
    let ids = server.requests.compactMap { $0.headers["webhook-id"] }
    #expect(ids.count == 3)
    #expect(ids[0] == ids[1])
    #expect(ids[0] != ids[2])
  }

  @Test("a signed callback brings the result later where the destination says so")
  func callback() async throws {
    let server = try LoopbackServer { _ in .reply(202) }
    defer { server.stop() }
    let receiver = try receiver(server.url) { $0.answer = .callback }
    guard case .accepted = await deliver(receiver, try document()) else {
      Issue.record("not accepted")
      return
    }
  }

  @Test("where nobody listens nothing happened, and it is tried later")
  func refused() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    server.stop()
    let error = failed(await deliver(try receiver(server.url), try document()))
    #expect(error?.code == .destinationUnavailable)
    #expect(error?.effect == Effect.none)
    #expect(error?.retry == .later)
  }

  @Test("an answer that does not come, or breaks off, leaves the effect unknown")
  func silence() async throws {
    for answer in [LoopbackServer.Answer.silence, .raw([]), .raw(Array("HTTP/1.1 200".utf8))] {
      let server = try LoopbackServer { _ in answer }
      defer { server.stop() }
      let receiver = try receiver(server.url) { $0.idle = .milliseconds(200) }
      let error = failed(await deliver(receiver, try document()))
      #expect(error?.effect == .unknown)
      #expect(error?.retry == .never)
      #expect(server.requests.count == 1)
    }
  }

  @Test("a redirection is not followed: the request goes to the configured address only")
  func redirection() async throws {
    let other = try LoopbackServer { _ in .reply(200) }
    defer { other.stop() }
    let server = try LoopbackServer { _ in .reply(307, headers: [("Location", other.url)]) }
    defer { server.stop() }
    let error = failed(await deliver(try receiver(server.url), try document()))
    #expect(error?.effect == .unknown)
    #expect(other.requests.isEmpty)
  }

  @Test("an endless answer is not read to its end")
  func endless() async throws {
    let server = try LoopbackServer { _ in
      .reply(200, body: [UInt8](repeating: UInt8(ascii: "x"), count: 5_000_000))
    }
    defer { server.stop() }
    guard case .result(let result) = await deliver(try receiver(server.url), try document()) else {
      Issue.record("no result")
      return
    }
    #expect(result.outcome == .success(output: [:]))
  }

  @Test("a stop while an answer is awaited is interrupted, effect unknown; before it, none")
  func cancellation() async throws {
    let arrived = AsyncStream.makeStream(of: Void.self)
    let server = try LoopbackServer { _ in
      arrived.continuation.yield()
      return .silence
    }
    defer { server.stop() }
    let receiver = try receiver(server.url)
    let request = try document()
    let ends = await withTaskGroup(of: ResultError?.self) { group in
      group.addTask { failed(await deliver(receiver, request)) }
      for await _ in arrived.stream { break }
      group.cancelAll()
      group.addTask { failed(await deliver(receiver, request)) }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ends.allSatisfy { $0?.code == .interrupted })
    #expect(Set(ends.map { $0?.effect }) == [.unknown, Effect.none])
    #expect(server.requests.count == 1)
  }
}
