import Glibc
import HTTPClient
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// `http` destinations whose results come signed to `/v3/results`.
@Suite("HTTP with answer = callback", .timeLimit(.minutes(2)))
struct HTTPCallbackTests {
  private static let accepting: HookReceiver.Behaviour = { _ in .reply(202) }

  @Test("the signed result counts once; a copy of it is told so")
  func success() async throws {
    try await run { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      let answer = try await scene.receiver.succeed(delivery, at: scene.broker)
      #expect(answer.status == 200)
      try await scene.wait(for: "succeeded")
      let replay = try await scene.receiver.succeed(delivery, at: scene.broker)
      #expect(replay.status == 409)
      #expect(replay.code == "already_consumed")
      #expect(replay.headers["content-type"] == "application/problem+json")
    }
  }

  @Test("wrong signatures, old ones, garbage and unknown tokens are refused and change nothing")
  func refusals() async throws {
    try await run { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      let receiver = scene.receiver
      let result = HandoffResult(state: delivery.request.state, outcome: .success(output: [:]))
      let body = try WireCoder.encode(result)
      let broker = scene.broker
      let wrong = try await receiver.bring(body, to: broker, secret: "not the secret of anybody")
      #expect((wrong.status, wrong.code) == (401, "auth"))
      let moment = Timestamp.now.advanced(by: .seconds(-301))
      let old = try await receiver.bring(body, to: broker, at: moment)
      #expect((old.status, old.code) == (401, "auth"))
      let garbage = try await receiver.bring(Array("{}".utf8), to: broker)
      #expect((garbage.status, garbage.code) == (400, "malformed_result"))
      let unknown = HandoffResult(
        state: try #require(StateToken("99.abc")),
        outcome: .success(output: [:])
      )
      let nobody = try await receiver.bring(try WireCoder.encode(unknown), to: broker)
      #expect((nobody.status, nobody.code) == (404, "unknown_state"))
      let large = try await receiver.bring([UInt8](repeating: 32, count: 20_000), to: broker)
      #expect((large.status, large.code) == (413, "malformed_request"))
      let rebound = try await receiver.bring(body, to: broker, host: "evil.example")
      #expect((rebound.status, rebound.code) == (421, "not_configured"))
      try await scene.wait(for: "accepted")
      for answer in [wrong, old, garbage, nobody, large] {
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(!text.contains(delivery.request.state.revealed))
      }
      #expect(try await receiver.succeed(delivery, at: broker).status == 200)
    }
  }

  @Test("a token of another destination is refused")
  func wrongDestination() async throws {
    let other = """
      [destination.other]
      transport = "http"
      url = "http://127.0.0.1:9/never"
      answer = "callback"
      secret = { env = "OTHER_SECRET" }
      """
    try await run(others: other) { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      let foreign = try await scene.receiver.succeed(
        delivery,
        at: scene.broker,
        secret: HookReceiver.otherSecret
      )
      #expect((foreign.status, foreign.code) == (403, "wrong_destination"))
      try await scene.wait(for: "accepted")
    }
  }

  @Test("two destinations may share a secret: the token says whose result it is")
  func sharedSecret() async throws {
    let twin = """
      [destination.twin]
      transport = "http"
      url = "http://127.0.0.1:9/never"
      answer = "callback"
      secret = { env = "HOOK_SECRET" }
      [destination.triplet]
      transport = "http"
      url = "http://127.0.0.1:9/never"
      answer = "callback"
      secret = { env = "HOOK_SECRET" }
      """
    try await run(others: twin) { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      #expect(try await scene.receiver.succeed(delivery, at: scene.broker).status == 200)
      try await scene.wait(for: "succeeded")
    }
  }

  @Test("a result that quotes its token and its grant shows neither to anybody")
  func quoting() async throws {
    try await run { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      let token = delivery.request.state.revealed
      let grant = try #require(delivery.grant)
      let text = "I had \(token), \(grant)"
      let error = ResultError(.quota, text, effect: .none, retry: .never, remedy: text)
      let result = HandoffResult(state: delivery.request.state, outcome: .failure(error))
      let answer = try await scene.receiver.bring(try WireCoder.encode(result), to: scene.broker)
      #expect(answer.status == 200)
      let handoffs = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.first?["error"] != nil
      }
      let shown = handoffs.elements.first?["error"]
      #expect(shown?["message"]?.text == "I had (state token), (grant)")
      let all = String(decoding: try WireCoder.encode(handoffs), as: UTF8.self)
      #expect(!all.contains(token))
      #expect(!all.contains(grant))
    }
  }

  @Test("a result of another version than its request is malformed, and changes nothing")
  func otherVersion() async throws {
    try await run { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      let state = delivery.request.state
      let old = HandoffResult(state: state, outcome: .success(output: [:]), version: 1)
      let answer = try await scene.receiver.bring(try WireCoder.encode(old), to: scene.broker)
      #expect((answer.status, answer.code) == (400, "malformed_result"))
      try await scene.wait(for: "accepted")
      #expect(try await scene.receiver.succeed(delivery, at: scene.broker).status == 200)
    }
  }

  @Test("a request that perhaps never left is an unknown outcome, and its result still counts")
  func killedBeforeAcceptance() async throws {
    try await HTTPScene.run(answer: "callback", behaviour: HookReceiver.answering(.silence)) {
      scene in
      try await scene.send()
      let delivery = try await scene.receiver.first()
      try await scene.restart(SIGKILL)
      try await scene.wait(for: "outcome_unknown")
      #expect(try await scene.receiver.succeed(delivery, at: scene.broker).status == 200)
      try await scene.wait(for: "succeeded")
      #expect(try scene.receiver.deliveries.count == 1)
    }
  }

  @Test("a result that comes after the end is kept as late, and the grant has ended with it")
  func late() async throws {
    try await run(more: "idle = \"1s\"\nceiling = \"1s\"") { scene in
      try await scene.send()
      let delivery = try await scene.receiver.first()
      try await scene.wait(for: "expired")
      let answer = try await scene.receiver.succeed(delivery, at: scene.broker)
      #expect((answer.status, answer.code) == (410, "expired"))
      let handoff = try await scene.wait(for: "expired")
      #expect(handoff["late_results"] == .integer(1))
      let read = try await scene.receiver.read(delivery)
      #expect((read.status, read.code) == (410, "expired"))
    }
  }

  @Test("keys change both ways without a pause")
  func rotation() async throws {
    let both = """
      secret = { env = "OTHER_SECRET" }
      old_secret = { env = "HOOK_SECRET" }
      """
    try await run(more: both) { scene in
      try await scene.send(1)
      try await scene.wait(for: "accepted")
      let first = try await scene.receiver.first()
      // The receiver has only the old one.
      #expect(first.isSigned)
      #expect(try await scene.receiver.succeed(first, at: scene.broker).status == 200)
      try await scene.send(2)
      try await scene.wait(for: "accepted")
      let second = try #require(try scene.receiver.deliveries.last)
      let answer = try await scene.receiver.succeed(
        second,
        at: scene.broker,
        secret: HookReceiver.otherSecret
      )
      #expect(answer.status == 200)
    }
  }

  @Test("case 41: of 50 copies of a result at one instant one counts")
  func atOnce() async throws {
    try await run { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      let broker = scene.broker
      let receiver = scene.receiver
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<50 {
          group.addTask { try await receiver.succeed(delivery, at: broker).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 409 } == 49)
      try await scene.wait(for: "succeeded")
    }
  }

  @Test(
    "case 44: a restart between request and result loses nothing",
    arguments: [SIGTERM, SIGKILL]
  )
  func restart(_ signal: CInt) async throws {
    try await run { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let delivery = try await scene.receiver.first()
      try await scene.restart(signal)
      try await scene.wait(for: "accepted")
      #expect(try await scene.receiver.succeed(delivery, at: scene.broker).status == 200)
      try await scene.wait(for: "succeeded")
      #expect(try scene.receiver.deliveries.count == 1)
    }
  }

  @Test("the asset is read with the grant, whole, in parts and by its head")
  func reading() async throws {
    try await run { scene in
      try await scene.send()
      try await scene.wait(for: "accepted")
      let bytes = try await Scene.video(1)
      let delivery = try await scene.receiver.first()
      let receiver = scene.receiver
      let whole = try await receiver.read(delivery)
      #expect(whole.status == 200)
      #expect(whole.body == bytes)
      #expect(whole.headers["accept-ranges"] == "bytes")
      #expect(whole.headers["content-type"] == "video/mp4")
      #expect(whole.headers["content-disposition"]?.contains("filename=\"1.mp4\"") == true)
      let tag = try #require(whole.headers["etag"])
      let part = try await receiver.read(
        delivery,
        headers: [(name: "Range", value: "bytes=100-199"), (name: "If-Range", value: tag)]
      )
      #expect(part.status == 206)
      #expect(part.headers["content-range"] == "bytes 100-199/\(bytes.count)")
      #expect(part.body == Array(bytes[100..<200]))
      let changed = try await receiver.read(
        delivery,
        headers: [(name: "Range", value: "bytes=1-2"), (name: "If-Range", value: "\"other\"")]
      )
      #expect(changed.status == 200)
      let beyond = try await receiver.read(
        delivery,
        headers: [(name: "Range", value: "bytes=\(bytes.count)-")]
      )
      #expect(beyond.status == 416)
      #expect(beyond.headers["content-range"] == "bytes */\(bytes.count)")
      let head = try await receiver.read(delivery, method: "HEAD")
      #expect(head.status == 200)
      #expect(head.headers["content-length"] == "\(bytes.count)")
      #expect(head.body.isEmpty)
      #expect(try await receiver.read(delivery, method: "DELETE").status == 405)
    }
  }

  @Test("a grant opens its own handoff's assets and nothing else, and ends with it")
  func grants() async throws {
    try await run { scene in
      try await scene.send(1)
      try await scene.wait(for: "accepted")
      let first = try await scene.receiver.first()
      try await scene.send(2)
      try await scene.wait(for: "accepted")
      let second = try #require(try scene.receiver.deliveries.last)
      #expect(first.grant != second.grant)
      let foreign = try await scene.receiver.read(
        first,
        uuid: try #require(second.request.localIdentifiers.first).uuid
      )
      #expect((foreign.status, foreign.code) == (403, "access_limited"))
      let forged = HookReceiver.Delivery(
        id: first.id,
        request: first.request,
        grant: first.grant.map { String($0.dropLast()) + "_" },
        assets: first.assets,
        isSigned: true
      )
      let refused = try await scene.receiver.read(forged)
      #expect((refused.status, refused.code) == (401, "auth"))
      #expect(refused.headers["www-authenticate"] == "Bearer")
      #expect(try await scene.receiver.succeed(first, at: scene.broker).status == 200)
      let ended = try await scene.receiver.read(first)
      #expect((ended.status, ended.code) == (410, "expired"))
      #expect(try await scene.receiver.read(second).status == 200)
    }
  }

  @Test("an address that is in use does not stop the broker, and is said")
  func addressInUse() async throws {
    let (taken, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
    let receiver = try HookReceiver { _ in .reply(200) }
    defer { receiver.stop() }
    let configuration = HTTPScene.configuration(
      receiver.url,
      answer: "status",
      listen: "127.0.0.1:\(port)"
    )
    try await withTemporaryDirectory { root in
      let broker = try RunningBroker(
        root: root,
        configuration: configuration,
        environment: ["HOOK_SECRET=\(HookReceiver.secret)"]
      )
      try await broker.start()
      let status = try await broker.json("status")
      #expect(status["api"]?["error"]?.text?.contains("in use") == true)
      // What waits for it says so, and is not an attempt.
      let down = try await broker.wait("status") { status in
        status["destinations"]?.elements.first?["detail"]?.text?.contains("in use") == true
      }
      #expect(down["destinations"]?.elements.first?["status"]?.text == "down")
      let scene = HTTPScene(scene: Scene(broker: broker), receiver: receiver)
      try await scene.send()
      try await scene.wait(for: "pending")
      try taken.close()
      let served = try await broker.wait("status") { $0["api"]?["address"]?.text != nil }
      #expect(served["api"]?["address"]?.text == "127.0.0.1:\(port)")
      let handoff = try await scene.wait(for: "succeeded")
      #expect(handoff["attempts"] == .integer(1))
      _ = try await broker.wait("status") { status in
        status["destinations"]?.elements.first?["status"]?.text == "up"
      }
      await broker.end(SIGTERM)
    }
  }

  private func run(
    more: String = "",
    others: String = "",
    _ body: nonisolated(nonsending) (HTTPScene) async throws -> Void
  ) async throws {
    try await HTTPScene.run(
      answer: "callback",
      more: more,
      others: others,
      behaviour: Self.accepting,
      body
    )
  }
}
