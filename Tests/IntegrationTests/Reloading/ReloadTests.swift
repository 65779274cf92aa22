import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A changed configuration is applied to the running broker without losing or doubling a handoff.
@Suite("Reloading", .timeLimit(.minutes(3)))
struct ReloadTests {
  @Test("a destination that does not change keeps its plugin and what is in flight there")
  func undisturbed() async throws {
    let other = Scene.exec("other", "/bin/true")
    try await ObedientPlugin.run(["steady"], more: other) { scene in
      let plugin = try await ObedientPlugin("steady", scene)
      let asset = try await scene.importedAsset(1)
      let names = try await scene.sendMany(20, asset, to: "steady")
      let given = try await plugin.given(20)
      let lives = try await Self.children(scene)
      let before = try String(contentsOf: scene.broker.config)
      let report = try await scene.reload(
        before.replacing("\"/bin/true\"", with: "\"/bin/true\", \"again\"")
      )
      let lines = report["changes"]?.elements.compactMap { $0["name"]?.text }
      #expect(lines == ["other"])
      #expect(try await Self.children(scene) == lives)
      for (number, one) in given.enumerated() {
        let said = try await plugin.report(
          "r\(number)",
          ObedientPlugin.result(one.token)
        )
        #expect(said == "ok")
      }
      let handoffs = try await scene.succeeded(20)
      #expect(Set(handoffs.compactMap { $0["id"]?.text }) == Set(names))
      #expect(handoffs.allSatisfy { $0["attempts"]?.integer == 1 })
      #expect(try plugin.given.count == 20)
    }
  }

  /// The broker's children that run the plugin.
  private static func children(_ scene: Scene) async throws -> Set<Int32> {
    let broker = try #require(scene.broker.processID)
    let listing = scene.broker.root.appending("children")
    try await scene.sh("pgrep -P \(broker) -f obedient.py > children")
    let text = String(
      decoding: try FileDescriptor.open(listing, O_RDONLY).readAll(limit: 65_536),
      as: UTF8.self
    )
    let found = Set(text.split(separator: "\n").compactMap { Int32($0) })
    try #require(!found.isEmpty)
    return found
  }

  @Test("folders and destinations come and go while exports arrive, and none is lost or doubled")
  func steady() async throws {
    try await Scene.run("", starting: false) { scene in
      try await scene.sh("mkdir -p more")
      let (one, two) = (try scene.counting("one"), try scene.counting("two"))
      let first = Scene.configuration(handoff: ["one"], destinations: Scene.exec("one", one))
      let second =
        Scene.configuration(
          handoff: ["one", "two"],
          destinations: Scene.exec("one", one) + Scene.exec("two", two)
        ) + """

          [[drop_folder]]
          path = "more"
          quiet = "100ms"
          handoff = ["two"]
          """
      try scene.configure(first)
      try await scene.broker.start()
      var videos: [[UInt8]] = []
      for number in 0..<24 { videos.append(try await Scene.video(UInt64(number))) }
      for (number, video) in videos.enumerated() {
        try scene.write(video, to: BytePath("v\(number).mp4"))
        if number % 4 == 3 {
          let report = try await scene.reload(number % 8 == 3 ? second : first)
          #expect(report["outcome"]?.text == "applied")
        }
      }
      // The folder that was taken away and given back is watched.
      try await scene.reload(second)
      let extra = scene.broker.root.appending("more/extra.mp4")
      try DurableFile.write(try await Scene.video(100), to: extra)
      _ = try await scene.broker.wait("assets", within: .seconds(60)) { $0.elements.count == 25 }
      let handoffs = try await scene.broker.wait("handoffs", within: .seconds(60)) { handoffs in
        handoffs.elements.count >= 25
          && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }.elements
      for name in ["one", "two"] {
        let made = handoffs.filter { $0["destination"]?.text == name }
        let seen = try scene.seen(name)
        #expect(seen.count == made.count, "\(name)")
        #expect(Set(seen).count == seen.count, "\(name)")
      }
      #expect(try scene.seen("one").count == 24)
    }
  }

  @Test("fifty SIGHUPs in a row under load lose and double nothing")
  func hangups() async throws {
    try await Scene.run("", starting: false) { scene in
      let (one, two) = (try scene.counting("one"), try scene.counting("two"))
      let texts = [1, 3].map { concurrency in
        Scene.configuration(
          handoff: ["one", "two"],
          destinations: Scene.exec("one", one)
            + Scene.exec("two", two, "concurrency = \(concurrency)")
        )
      }
      try scene.configure(texts[0])
      try await scene.broker.start()
      for number in 0..<25 {
        try scene.write(try await Scene.video(UInt64(number)), to: BytePath("v\(number).mp4"))
        for text in texts {
          try scene.configure(text)
          try scene.broker.signal(SIGHUP)
        }
      }
      let handoffs = try await scene.succeeded(50, within: .seconds(90))
      #expect(handoffs.allSatisfy { $0["attempts"]?.integer == 1 })
      for name in ["one", "two"] {
        let seen = try scene.seen(name)
        #expect(seen.count == 25, "\(name)")
        #expect(Set(seen).count == 25, "\(name)")
      }
      // However many came, the last file is in force.
      let report = try await scene.broker.json("reload")
      #expect(report["outcome"]?.text == "applied")
      #expect(report["changes"]?.elements.isEmpty == true)
      // A stop is taken although many signals wait.
      for _ in 0..<40 { try scene.broker.signal(SIGHUP) }
      #expect(await scene.broker.end(SIGTERM) == .exited(0))
    }
  }

  @Test("a secret that was changed where it lies signs from the next reload on")
  func rotated() async throws {
    let receiver = try HookReceiver(HookReceiver.answering(.reply(204)))
    defer { receiver.stop() }
    let text = HTTPScene.configuration(
      receiver.url,
      answer: "status",
      more: "secret = { file = \"secret\" }"
    )
    try await Scene.run(text, starting: false) { scene in
      let file = scene.broker.root.appending("secret")
      try DurableFile.write(Array(HookReceiver.secret.utf8), to: file, permissions: 0o600)
      try await scene.broker.start()
      let asset = BytePath(try await scene.importedAsset(1))
      _ = try await scene.broker.json("send", asset, "--to", "hook")
      try await scene.succeeded(1)
      try DurableFile.write(Array(HookReceiver.otherSecret.utf8), to: file, permissions: 0o600)
      let report = try await scene.broker.json("reload")
      let change = report["changes"]?.elements.first
      #expect(change?["detail"]?.text == "its secret is another one")
      _ = try await scene.broker.json("send", asset, "--to", "hook", "--again")
      try await scene.succeeded(2)
      // The receiver goes by the first secret.
      #expect(try receiver.deliveries.map(\.isSigned) == [true, false])
      // A file that is gone changes nothing.
      try DurableFile.unlink(file)
      let refused = try await scene.broker.command(["reload"])
      #expect(refused.code == 2)
      #expect(refused.errors.contains("destination.hook.secret"))
      #expect(!(try scene.broker.wholeLog).contains(HookReceiver.otherSecret))
    }
  }

  @Test("what needs a restart is refused as a whole, and told by plan before")
  func needsRestart() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let changed =
        Scene.configuration(destinations: Scene.exec("new", "/bin/true"))
        .replacing("path = \"library\"", with: "path = \"elsewhere\"")
        .replacing("[broker]\n", with: "[broker]\ncrash_limit = 7\n")
      try scene.configure(changed)
      let plan = try await scene.broker.json("plan")
      let actions = plan["changes"]?.elements.compactMap { $0["action"]?.text }
      #expect(actions == ["restart", "restart", "add"])
      let refused = try await scene.broker.command(["reload"])
      #expect(refused.code == 2)
      #expect(refused.errors.contains("broker.crash_limit: needs a restart: 3 becomes 7"))
      #expect(refused.errors.contains("handoff.toml:7:8: library.path: needs a restart"))
      #expect(try await scene.broker.json("status")["destinations"]?.elements.isEmpty == true)
      await scene.broker.end(SIGTERM)
      #expect(try await scene.broker.command(["reload"]).code == 75)
    }
  }
}

extension String {
  init(contentsOf path: BytePath) throws {
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24)
    self.init(decoding: bytes, as: UTF8.self)
  }
}
