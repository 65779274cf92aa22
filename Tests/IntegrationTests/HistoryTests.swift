import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The record of what happened, for people and against those who would change it.
@Suite("History and audit")
struct HistoryTests {
  @Test(
    "An asset's history goes from its first byte to its address, and an edit is found",
    .timeLimit(.minutes(2))
  )
  func historyAndAudit() async throws {
    try await Self.run("") { scene in
      try scene.write(try await Scene.video(1), to: "clip.mp4")
      let done = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "succeeded"
      }
      let asset = try #require(done.elements.first?["local_identifiers"]?.elements.first?.text)
      // While it runs, too.
      #expect(try await scene.broker.json("audit")["intact"] == .bool(true))
      await scene.broker.end(SIGTERM)
      for id in [BytePath(asset), "h1"] {
        let history = try await scene.broker.json("history", id)
        let events = history.elements.map { $0["event"]?.text ?? "" }
        let expected = [
          "first_seen", "settled", "imported", "created", "claimed", "submitted", "accepted",
          "succeeded",
        ]
        #expect(events.filter { $0 != "accepted" } == expected.filter { $0 != "accepted" })
        let imported = history.elements.first { $0["event"]?.text == "imported" }
        #expect(imported?["facts"]?["how"]?.text == "copied")
        #expect(imported?["facts"]?["sha256"]?.text?.count == 64)
        #expect(history.elements.last?["detail"]?.text == "https://example.net/clip")
      }
      try await Self.expectTampering(scene)
    }
  }

  private static func expectTampering(_ scene: Scene) async throws {
    #expect(try await scene.broker.command(["audit"]).code == 0)
    try await scene.sh(
      """
      sqlite3 state/ledger.db "UPDATE handoffs SET output = '{\\"url\\":\\"https://evil.example\\"}'"
      """
    )
    let edited = try await scene.broker.command(["audit", "--json"])
    #expect(edited.code == 1)
    let report = try WireCoder.decode(JSONValue.self, from: edited.output)
    #expect(report["findings"]?.elements.first?["kind"]?.text == "handoff_differs")
    #expect(report["findings"]?.elements.first?["handoff_id"]?.text == "h1")
    try await scene.sh(
      """
      sqlite3 state/ledger.db "DROP TRIGGER events_kept; \
      DELETE FROM events WHERE seq = (SELECT max (seq) FROM events)"
      """
    )
    let cut = try await scene.broker.command(["audit"])
    #expect(cut.code == 1)
    #expect(String(decoding: cut.output, as: UTF8.self).contains("cut off the end"))
    // A broker does not begin on it.
    #expect(try await scene.broker.command(["serve"]).code != 0)
  }

  @Test("Old handoffs go away by themselves, and the rest can be proven", .timeLimit(.minutes(2)))
  func pruned() async throws {
    try await Self.run("history = \"1s\"") { scene in
      try scene.write(try await Scene.video(1), to: "clip.mp4")
      _ = try await scene.broker.wait("assets") { $0.elements.count == 1 }
      _ = try await scene.broker.wait("audit") { $0["pruned_events"]?.integer ?? 0 > 0 }
      let audit = try await scene.broker.json("audit")
      #expect(audit["intact"] == .bool(true))
      #expect(audit["handoffs"]?.integer == 0)
      let asset = try await scene.assets().first?["local_identifier"]?.text ?? ""
      let history = try await scene.broker.json("history", BytePath(asset))
      let events = history.elements.map { $0["event"]?.text ?? "" }
      #expect(events == ["first_seen", "settled", "imported", "ended"])
      // The same content under another name is not handed off a second time.
      try scene.write(try await Scene.video(1), to: "again.mp4")
      try await scene.untilImported("again.mp4")
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      #expect(try await scene.broker.json("handoffs").elements == [])
    }
  }

  private static func run(
    _ broker: String,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { scene in
      let script = try scene.script(
        "publish",
        """
        state=$(sed 's/.*"state":"\\([^"]*\\)".*/\\1/')
        printf '{"protocol_version":3,"state":"%s","result":"success",' "$state"
        printf '"output":{"url":"https://example.net/clip"}}\\n'
        """
      )
      let configuration = Scene.configuration(
        broker: broker,
        handoff: ["site"],
        destinations: """
          [destination.site]
          transport = "exec"
          command = ["\(script)"]
          containment = "none"
          """
      )
      try DurableFile.write(Array(configuration.utf8), to: scene.broker.config)
      try await scene.broker.start()
      try await body(scene)
    }
  }
}
