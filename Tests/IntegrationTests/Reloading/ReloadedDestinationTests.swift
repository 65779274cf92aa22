import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a reload does to a destination that is changed or removed, and to what waits there.
@Suite("Reloading destinations", .timeLimit(.minutes(3)))
struct ReloadedDestinationTests {
  @Test("what waits for an approval never goes to a receiver that is removed or changed")
  func unapproved() async throws {
    try await Scene.run("", starting: false) { scene in
      let (real, safe) = (try scene.counting("real"), try scene.counting("safe"))
      let without = Scene.configuration()
      let guarded = Scene.configuration(destinations: Scene.exec("d", real, "approval = true"))
      try scene.configure(guarded)
      try await scene.broker.start()
      _ = try await scene.sendMany(1, try await scene.importedAsset(1), to: "d")
      try await waits(for: "approval", scene)
      try await scene.reload(without)
      try await waits(for: "destination_unknown", scene)
      try await scene.reload(guarded)
      try await waits(for: "approval", scene)
      // Without approval, but elsewhere.
      try await scene.reload(Scene.configuration(destinations: Scene.exec("d", safe)))
      try await scene.succeeded(1)
      #expect(try scene.seen("safe").count == 1)
      #expect(try scene.seen("real") == [])
    }
  }

  private func waits(for reason: String, _ scene: Scene) async throws {
    _ = try await scene.broker.wait("handoffs") { handoffs in
      handoffs.elements.map { $0["waiting"]?["reason"]?.text } == [reason]
    }
  }

  @Test("a plugin that is changed with work in flight is asked about it, and nothing is sent twice")
  func changedPlugin() async throws {
    try await ObedientPlugin.run(["steady"]) { scene in
      let plugin = try await ObedientPlugin("steady", scene)
      let asset = try await scene.importedAsset(1)
      _ = try await scene.sendMany(3, asset, to: "steady")
      let given = try await plugin.given(3)
      let loaded = try await scene.broker.json("status")["config"]?["loaded_at"]
      let text = try String(contentsOf: scene.broker.config)
      let changed = text.replacing("concurrency = 1000", with: "concurrency = 10")
      try scene.configure(changed)
      try scene.broker.signal(SIGHUP)
      _ = try await scene.broker.wait("status") { $0["config"]?["loaded_at"] != loaded }
      // It may still end what it holds.
      #expect(try await plugin.report("a", ObedientPlugin.result(given[0].token)) == "ok")
      // Its end while it drains is put down to nothing, and needs not be waited for.
      let broker = try #require(scene.broker.processID)
      try await scene.sh("pkill -KILL -P \(broker) -f obedient.py")
      // The next life is asked about the other two.
      let isAsked = try await poll(within: .seconds(60)) {
        let tokens = try String(contentsOf: plugin.work.appending("tokens"))
        return tokens.split(separator: "\n").count == 5 ? true : nil
      }
      try #require(isAsked == true)
      for one in given.dropFirst() {
        #expect(try await plugin.report(one.handoff, ObedientPlugin.result(one.token)) == "ok")
      }
      let handoffs = try await scene.succeeded(3)
      #expect(handoffs.allSatisfy { $0["attempts"]?.integer == 1 })
      #expect(try plugin.given.count == 3)
      #expect(!(try scene.broker.wholeLog).contains("A plugin ended"))
    }
  }

  @Test("history that is kept for less is pruned without a restart")
  func shorterHistory() async throws {
    try await Scene.run("", starting: false) { scene in
      let text = Scene.configuration(destinations: Scene.exec("d", "/bin/true"))
      try scene.configure(text)
      try await scene.broker.start()
      _ = try await scene.sendMany(1, try await scene.importedAsset(1), to: "d")
      try await scene.succeeded(1)
      let report = try await scene.reload(
        text.replacing("[broker]", with: "[broker]\nhistory = \"1s\"\ncrash_limit = 5")
      )
      let names = report["changes"]?.elements.compactMap { $0["name"]?.text }
      #expect(names == ["history", "crash_limit"])
      _ = try await scene.broker.wait("handoffs", within: .seconds(30)) { $0.elements.isEmpty }
    }
  }
}
