import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing
import Webhooks

/// Callbacks by `url` and `open`, as the built broker serves them.
@Suite("Posted notices", .timeLimit(.minutes(2)))
struct PostedNoticeTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let old = "the secret before, which was a plain text"

  /// A broker whose folder's callback is an address.
  private func withScene(
    _ callback: String,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    let configuration = Scene.configuration(
      folder: "callback = \"editor\"",
      handoff: ["ok"],
      destinations: """
        [destination.ok]
        transport = "exec"
        command = ["/bin/true"]
        containment = "none"
        [callback.editor]
        \(callback)
        secret = { file = "secret" }
        old_secret = { file = "old" }
        """
    )
    try await Scene.run(configuration, starting: false) { scene in
      try write(Self.secret + "\n", to: scene.broker.root.appending("secret"))
      try write(Self.old + "\n", to: scene.broker.root.appending("old"))
      try await body(scene)
    }
  }

  private func write(_ text: String, to path: BytePath) throws {
    try DurableFile.write(Array(text.utf8), to: path, permissions: 0o600)
  }

  private func document(_ request: LoopbackServer.Request) throws -> JSONValue {
    try WireCoder.decode(JSONValue.self, from: request.body)
  }

  private func notices(_ scene: Scene, _ id: BytePath = "h1") async throws -> [JSONValue] {
    try await scene.broker.json("show", id)["notices"]?.elements ?? []
  }

  @Test("a handoff's end is posted, signed with both secrets, and no secret is logged or shown")
  func posted() async throws {
    let server = try LoopbackServer { _ in .reply(204) }
    defer { server.stop() }
    try await withScene("url = \"\(server.url)/results\"") { scene in
      try await scene.broker.start()
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      _ = try await scene.broker.wait("show", "h1") { shown in
        shown["notices"]?.elements.first?["state"]?.text == "delivered"
      }
      let sent = try #require(server.requests.first)
      #expect(server.requests.count == 1)
      #expect(sent.headers["webhook-id"] == "n1")
      let told = try document(sent)
      #expect(told["result"]?.text == "success")
      #expect(told["handoff_id"]?.text == "h1")
      let seconds = try #require(sent.headers["webhook-timestamp"].flatMap { Int64($0) })
      let moment = Timestamp(milliseconds: seconds * 1000)
      for secret in [Self.secret, Self.old] {
        let webhook = try ReceivedWebhook(body: sent.body) { sent.headers[$0] }
        #expect(try webhook.verify([WebhookSecret(secret)], now: moment) == 0)
      }
      let printed = try await scene.broker.command(["check", "--print"])
      #expect(printed.code == 0)
      let shown = String(decoding: printed.output, as: UTF8.self) + printed.errors
      #expect(shown.contains("old_secret = { file = "))
      for text in [shown, try scene.broker.wholeLog] {
        #expect(!text.contains("MfKQ9r8G"))
        #expect(!text.contains("plain text"))
      }
    }
  }

  @Test("one that fails twice is posted again under its id, and then counts as told")
  func again() async throws {
    let count = Atomic(0)
    let server = try LoopbackServer { _ in
      let number = count.add(1, ordering: .relaxed).newValue
      return number < 3 ? (number == 1 ? .reply(500) : .raw([])) : .reply(200)
    }
    defer { server.stop() }
    try await withScene("url = \"\(server.url)\"") { scene in
      try await scene.broker.start()
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      let shown = try await scene.broker.wait("show", "h1") { shown in
        shown["notices"]?.elements.first?["state"]?.text == "delivered"
      }
      #expect(shown["notices"]?.elements.first?["attempts"]?.integer == 3)
      #expect(server.requests.count == 3)
      #expect(Set(server.requests.map { $0.headers["webhook-id"] }) == ["n1"])
    }
  }

  @Test("410 is given up at once and listed; a person may have it tried again")
  func gone() async throws {
    let isMended = Atomic(false)
    let server = try LoopbackServer { _ in
      .reply(isMended.load(ordering: .relaxed) ? 200 : 410)
    }
    defer { server.stop() }
    try await withScene("url = \"\(server.url)\"") { scene in
      try await scene.broker.start()
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      let status = try await scene.broker.wait("status") {
        $0["needs_person"]?.elements.isEmpty == false
      }
      let entry = try #require(status["needs_person"]?.elements.first)
      #expect(entry["id"]?.text == "n1")
      #expect(entry["attempts"]?.integer == 1)
      #expect(entry["error"]?.text?.contains("410") == true)
      isMended.store(true, ordering: .relaxed)
      _ = try await scene.broker.json("retry", "n1")
      _ = try await scene.broker.wait("status") { $0["needs_person"]?.elements.isEmpty == true }
      #expect(server.requests.count == 2)
    }
  }

  @Test("Retry-After is waited for", .timeLimit(.minutes(2)))
  func retryAfter() async throws {
    let server = try LoopbackServer { _ in .reply(503, headers: [("Retry-After", "3600")]) }
    defer { server.stop() }
    try await withScene("url = \"\(server.url)\"") { scene in
      try await scene.broker.start()
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      let shown = try await scene.broker.wait("show", "h1") { shown in
        shown["notices"]?.elements.first?["attempts"]?.integer == 1
      }
      let notice = try #require(shown["notices"]?.elements.first)
      let due = try #require(notice["due_at"]?.text.flatMap { Timestamp(rfc3339: $0) })
      let made = try #require(notice["created_at"]?.text.flatMap { Timestamp(rfc3339: $0) })
      #expect(due.since(made) >= .seconds(3600))
      #expect(notice["error"]?.text == "HTTP 503")
    }
  }

  @Test(
    "while the sender is away nothing is lost, over a kill too, and it hears each handoff in order"
  )
  func restart() async throws {
    // The port of a server that has gone.
    let gone = try LoopbackServer { _ in .reply(200) }
    let port = gone.port
    gone.stop()
    try await withScene("url = \"http://127.0.0.1:\(port)\"") { scene in
      try await scene.broker.start()
      for number in 1...3 {
        try scene.write(try await Scene.video(UInt64(number)), to: BytePath("\(number).mp4"))
      }
      _ = try await scene.broker.wait("status") { status in
        status["notices"]?.elements.count { $0["error"] != .null } == 3
      }
      await scene.broker.end(SIGKILL)
      let server = try LoopbackServer(port: port) { _ in .reply(200) }
      defer { server.stop() }
      try await scene.broker.start()
      _ = try await scene.broker.wait("status") { $0["counts"]?["notices.pending"]?.integer == 0 }
      let told = try server.requests.map { try document($0)["handoff_id"]?.text }
      #expect(Set(told) == ["h1", "h2", "h3"])
      for id in ["h1", "h2", "h3"] {
        #expect(try await notices(scene, BytePath(id)).first?["state"]?.text == "delivered")
      }
    }
  }

  @Test("a callback by open has the opener called with the sender's own URL")
  func opened() async throws {
    try await withScene("open = \"editor://result\"") { scene in
      let file = scene.broker.root.appending("opened")
      let opener = try scene.script("opener", "echo \"$1\" > \(file).new; mv \(file).new \(file)")
      let text = String(
        decoding: try FileDescriptor.open(scene.broker.config, O_RDONLY).readAll(limit: 1 << 20),
        as: UTF8.self
      )
      let lines = text.split(separator: "\n").filter { !$0.hasPrefix("old_secret") }
        .joined(separator: "\n")
      try write(lines + "\ncommand = [\"\(opener)\"]\n", to: scene.broker.config)
      try await scene.broker.start()
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      _ = try await scene.broker.wait("show", "h1") { shown in
        shown["notices"]?.elements.first?["state"]?.text == "delivered"
      }
      let url = String(
        decoding: try FileDescriptor.open(file, O_RDONLY).readAll(limit: 1 << 16),
        as: UTF8.self
      )
      let start = "editor://result?notice_id=n1&kind=result&result=success&status=succeeded"
      #expect(url.hasPrefix(start + "&handoff_id=h1&destination=ok&at="))
      #expect(url.contains("&title=cut"))
    }
  }
}
