import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Destinations, listed and looked at again", .timeLimit(.minutes(2)))
struct DestinationsTests {
  @Test("are listed with their receiver while the broker runs, and without it while it is down")
  func listed() async throws {
    let limits = "constraints = { max_size = \"40MB\" }"
    try await LookingPlugin.run([("shelf", "checks", limits)]) { scene in
      _ = try await scene.succeed(["one"], at: "shelf")
      let up = try #require(try await scene.broker.json("destinations").elements.first)
      #expect(up["name"]?.text == "shelf")
      #expect(up["status"]?.text == "up")
      #expect(up["plugin"]?["name"]?.text == "looker")
      #expect(up["succeeded"]?.integer == 1)
      #expect(up["succeeded_24h"]?.integer == 1)
      #expect(up["limits"]?["max_size"]?.integer == 40_000_000)
      #expect(up["limits_complete"] == .bool(true))
      _ = try await scene.broker.json("pause", "shelf")
      let paused = try await scene.broker.json("destinations").elements.first
      #expect(paused?["status"]?.text == "paused")
      await scene.broker.end(SIGTERM)
      let down = try #require(try await scene.broker.json("destinations").elements.first)
      #expect(down["status"]?.text == "broker_down")
      #expect(down["plugin"] == .null)
      #expect(down["succeeded"]?.integer == 1)
      #expect(down["limits_complete"] == .bool(false))
      #expect(down["detail"]?.text?.contains("paused") == true)
    }
  }

  @Test("each finding is counted, named, recorded and shown, and the exit code tells the worst")
  func findings() async throws {
    try await LookingPlugin.run([("shelf", "checks", "")]) { scene in
      let ids = try await scene.succeed(["fine", "present", "unknown"], at: "shelf")
      let (unsure, found, words) = try await scene.verify("shelf")
      #expect(unsure == 5, "\(words)")
      #expect(found.compactMap { $0["standing"]?.text } == ["intact", "present", "unknown"])
      #expect(words.contains("1 intact, 1 present, 0 damaged, 0 missing, 1 unknown"))
      #expect(words.contains("/shelf/unknown"))
      _ = try await scene.succeed(["damaged", "missing"], at: "shelf")
      // What was never looked at comes first.
      let (bad, next, told) = try await scene.verify("shelf", "--limit", "2")
      #expect(bad == 1)
      #expect(next.compactMap { $0["standing"]?.text } == ["damaged", "missing"])
      #expect(told.contains("/shelf/damaged") && told.contains("/shelf/missing"))
      let (good, first, _) = try await scene.verify("shelf", "--limit", "1")
      #expect(good == 0)
      #expect(first.first?["handoff_id"]?.text == ids[0].lossyText)
      let shown = try await scene.broker.json("show", ids[1])
      #expect(shown["verification"]?["standing"]?.text == "present")
      #expect(shown["status"]?.text == "succeeded")
      let said = try await scene.broker.command(["show", ids[1]])
      let text = String(decoding: said.output, as: UTF8.self)
      #expect(text.contains("path") && text.contains("/shelf/present"), "\(text)")
      #expect(text.contains("looked at again") && !text.contains("{"), "\(text)")
      let history = try await scene.broker.json("history", ids[0]).elements
      #expect(history.count { $0["event"]?.text == "verified_intact" } == 2)
      #expect(try await scene.broker.command(["audit"]).code == 0)
    }
  }

  @Test("an answer about another asset, or twice about one, or of no known kind, is no answer")
  func misleading() async throws {
    try await LookingPlugin.run([("shelf", "checks", "")]) { scene in
      _ = try await scene.succeed(["wrong", "double", "strange", "again", "fine"], at: "shelf")
      let (code, found, words) = try await scene.verify("shelf")
      #expect(code == 5, "\(words)")
      let standings = found.compactMap { $0["standing"]?.text }
      #expect(standings == ["unknown", "unknown", "unknown", "intact", "intact"])
      #expect(words.contains("says nothing of it") && words.contains("has it twice"))
      #expect(found[2]["error"]?.text?.contains("verify") == true)
      // No answer was a look as well: else a walk with a limit would ask about nothing else for ever.
      let strange = try #require(found[2]["handoff_id"]?.text)
      let shown = try await scene.broker.json("show", BytePath(strange))
      #expect(shown["verification"]?["standing"]?.text == "unknown", "\(shown)")
    }
  }

  @Test("a deleted asset is looked at again, by the digest that the ledger keeps")
  func deleted() async throws {
    try await LookingPlugin.run([("shelf", "checks", "")]) { scene in
      let ids = try await scene.succeed(["digest"], at: "shelf")
      let asset = try #require(try await scene.broker.json("assets").elements.first)
      let identifier = try #require(asset["local_identifier"]?.text)
      _ = try await scene.broker.json("delete", BytePath(identifier))
      let (code, found, words) = try await scene.verify("shelf", "--asset", BytePath(identifier))
      #expect(code == 0, "\(words)")
      #expect(found.first?["handoff_id"]?.text == ids[0].lossyText)
      let message = found.first?["assets"]?.elements.first?["message"]?.text ?? ""
      #expect(try message.hasPrefix(#require(asset["sha256"]?.text)))
    }
  }

  @Test("who cannot look again says so, and nothing is asked")
  func blind() async throws {
    try await LookingPlugin.run([("shelf", "blind", "")]) { scene in
      _ = try await scene.succeed(["one"], at: "shelf")
      let (code, _, words) = try await scene.verify("shelf")
      #expect(code == 4)
      #expect(words.contains("looker 1") && words.contains("cannot look again"))
      #expect(try !scene.heard(by: "shelf").contains { $0.hasPrefix("verify") })
      #expect(try await scene.broker.command(["destinations", "verify", "nobody"]).code == 3)
      #expect(try await scene.broker.command(["destinations", "verify"]).code == 2)
      #expect(try await scene.broker.command(["destinations", "--limit", "3"]).code == 2)
      await scene.broker.end(SIGTERM)
      #expect(try await scene.verify("shelf").0 == 75)
    }
  }

  @Test(
    "handoffs go on meanwhile, reading has no limit while the plugin answers, and ends where it does not"
  )
  func meanwhile() async throws {
    try await LookingPlugin.run([("shelf", "checks", "idle = \"1s\"")]) { scene in
      let slow = try await scene.succeed(["wait"], at: "shelf")
      let work = scene.broker.root.appending("state/work/shelf")
      async let verified = scene.verify("shelf")
      let asked = try await poll(within: .seconds(20), every: .milliseconds(100)) {
        try scene.heard(by: "shelf").contains("verify \(slow[0])") ? true : nil
      }
      #expect(asked == true)
      _ = try await scene.succeed(["fine"], at: "shelf", 2)
      #expect(try await scene.broker.json("destinations").elements[0]["in_flight"]?.integer == 0)
      // Longer than an answer may take.
      let statuses = try await poll(within: .seconds(20), every: .milliseconds(100)) {
        try scene.heard(by: "shelf").count { $0.hasPrefix("status") } >= 4 ? true : nil
      }
      #expect(statuses == true)
      try DurableFile.write([], to: work.appending("go"))
      #expect(try await verified.0 == 0)
      #expect(try await scene.verify("shelf", "--limit", "1").0 == 0)
      try Directory.removeTree(work.appending("go"))
      try DurableFile.write([], to: work.appending("mute"))
      let (code, found, words) = try await scene.verify("shelf", "--limit", "1")
      #expect(code == 5, "\(words)")
      #expect(found.first?["error"]?.text?.contains("status") == true, "\(found)")
    }
  }

  @Test("a broker that is killed meanwhile has recorded nothing, and the next one begins there")
  func killed() async throws {
    try await LookingPlugin.run([("shelf", "checks", "")]) { scene in
      let ids = try await scene.succeed(["fine", "wait", "last"], at: "shelf")
      async let broken = scene.verify("shelf")
      let asked = try await poll(within: .seconds(20), every: .milliseconds(50)) {
        try scene.heard(by: "shelf").contains("verify \(ids[1])") ? true : nil
      }
      #expect(asked == true)
      await scene.broker.end(SIGKILL)
      let (code, found, _) = try await broken
      #expect(code == 75)
      #expect(found.count == 1)
      try DurableFile.write([], to: scene.broker.root.appending("state/work/shelf/go"))
      try await scene.broker.start()
      _ = try await scene.broker.wait("destinations") { $0.elements[0]["status"]?.text == "up" }
      let history = try await scene.broker.json("history", ids[1]).elements
      #expect(!history.contains { $0["event"]?.text?.hasPrefix("verified") == true })
      let (again, rest, words) = try await scene.verify("shelf", "--limit", "2")
      #expect(again == 0, "\(words)")
      #expect(rest.compactMap { $0["handoff_id"]?.text } == ids[1...].map(\.lossyText))
      #expect(try await scene.broker.command(["audit"]).code == 0)
      #expect(try scene.heard(by: "shelf").count { $0.hasPrefix("submit") } == 3)
    }
  }
}
