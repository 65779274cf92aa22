import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// How handoffs leave the broker, and what it does about receivers that misbehave.
@Suite("Dispatch")
struct DispatchTests {
  @Test(
    "an object that was removed by hand is refused, and the plugin stays",
    .timeLimit(.minutes(1))
  )
  func missingObject() async throws {
    try await ScriptedPlugin.run([("plug", "done", "")], more: Self.exec("shell")) { scene in
      let gone = try await Self.importAsset(scene, 1)
      let whole = try await Self.importAsset(scene, 2)
      try await Self.removeObject(scene, of: gone)
      for destination in ["plug", "shell"] {
        let refused = try await Self.send(scene, gone, to: destination)
        #expect(refused["status"]?.text == "refused")
        #expect(refused["error"]?["code"]?.text == "asset_missing")
        #expect(refused["error"]?["effect"]?.text == "none")
        let done = try await Self.send(scene, whole, to: destination)
        #expect(done["status"]?.text == "succeeded")
      }
      #expect(try ScriptedPlugin("plug", scene).heard.count { $0 == "started" } == 1)
    }
  }

  @Test("a missing object does not keep a new broker from its plugin", .timeLimit(.minutes(1)))
  func missingAtStart() async throws {
    try await ScriptedPlugin.run([("plug", "works", "")]) { scene in
      let gone = try await Self.importAsset(scene, 1)
      let whole = try await Self.importAsset(scene, 2)
      try await Self.begin(scene, gone, to: "plug")
      _ = try await scene.broker.wait("handoffs") { Self.statuses($0) == ["accepted"] }
      await scene.broker.end(SIGKILL)
      try await Self.removeObject(scene, of: gone)
      try await scene.broker.start()
      try await Self.begin(scene, whole, to: "plug")
      _ = try await scene.broker.wait("handoffs") {
        Self.statuses($0) == ["accepted", "outcome_unknown"]
      }
      #expect(try ScriptedPlugin("plug", scene).heard.count { $0 == "started" } == 2)
    }
  }

  @Test("what the ceiling has ended is given up, and its slot is free", .timeLimit(.minutes(1)))
  func ceiling() async throws {
    let limits = "ceiling = \"2s\"\nidle = \"1s\"\nconcurrency = 1"
    try await ScriptedPlugin.run([("plug", "works", limits)]) { scene in
      for number in 1...2 {
        try await Self.begin(scene, try await Self.importAsset(scene, UInt64(number)), to: "plug")
      }
      _ = try await scene.broker.wait("handoffs") { Self.statuses($0) == ["expired", "expired"] }
      let heard = try ScriptedPlugin("plug", scene).heard
      #expect(heard.count { $0 == "submit" } == 2)
      #expect(heard.contains("cancel"))
      #expect(heard.count { $0 == "started" } == 1)
    }
  }

  @Test(
    "finished without its own result is malformed, and nobody knows what happened",
    .timeLimit(.minutes(1)),
    arguments: ["empty", "foreign"]
  )
  func finishedWithoutResult(_ mode: String) async throws {
    try await ScriptedPlugin.run([("plug", mode, "idle = \"1s\"")]) { scene in
      let handoff = try await Self.send(scene, try await Self.importAsset(scene, 1), to: "plug")
      #expect(handoff["status"]?.text == "outcome_unknown")
      #expect(handoff["error"]?["code"]?.text == "malformed_result")
      #expect(handoff["error"]?["effect"]?.text == "unknown")
      #expect(try ScriptedPlugin("plug", scene).heard.count { $0 == "started" } == 1)
    }
  }

  @Test("an answer to probe that comes too late costs nobody anything", .timeLimit(.minutes(1)))
  func lateAnswer() async throws {
    try await ScriptedPlugin.run([("plug", "twice", "idle = \"1s\"")]) { scene in
      for number in 1...2 {
        let asset = try await Self.importAsset(scene, UInt64(number))
        #expect(try await Self.send(scene, asset, to: "plug")["status"]?.text == "succeeded")
      }
      let heard = try ScriptedPlugin("plug", scene).heard
      #expect(heard.contains("probe"))
      #expect(!heard.contains("shutdown"))
      #expect(heard.count { $0 == "started" } == 1)
    }
  }

  @Test("a token in a receiver's words reaches neither log nor ledger", .timeLimit(.minutes(1)))
  func token() async throws {
    let plugins = ["tells", "refuses", "fails", "malformed"].map { ($0, $0, "") }
    try await ScriptedPlugin.run(plugins, more: Self.exec("shell")) { scene in
      let asset = try await Self.importAsset(scene, 1)
      for destination in plugins.map(\.0) + ["shell"] {
        let handoff = try await Self.send(scene, asset, to: destination)
        let text = "\(handoff)"
        #expect(text.contains("(state token)"), "\(destination): \(text)")
        let token = try ScriptedPlugin(destination, scene).token
        #expect(token.count > 40)
        #expect(!text.contains(token))
        #expect(try !scene.broker.wholeLog.contains(token))
        for name in ["ledger.db", "ledger.db-wal"] as [BytePath] {
          let path = scene.broker.root.appending("state").appending(name)
          guard try FileStatus.of(path) != nil else { continue }
          let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 28)
          #expect(!String(decoding: bytes, as: UTF8.self).contains(token), "\(name.lossyText)")
        }
      }
    }
  }

  @Test("a limited destination is given only the assets of its folders", .timeLimit(.minutes(1)))
  func folders() async throws {
    let more = Self.exec("exported", "folders = [\"exports\"]")
    let plugins = [("byhand", "done", "folders = [\"import\"]")]
    try await ScriptedPlugin.run(plugins, more: more) { scene in
      let byHand = try await Self.importAsset(scene, 1)
      try scene.write(try await Scene.video(2), to: "cut.mp4")
      let assets = try await scene.broker.wait("assets") { $0.elements.count == 2 }
      let identifiers = assets.elements.compactMap { $0["local_identifier"]?.text }
      let exported = try #require(identifiers.first { $0 != byHand })
      for (asset, taker, other) in [
        (byHand, "byhand", "exported"), (exported, "exported", "byhand"),
      ] {
        #expect(try await Self.send(scene, asset, to: taker)["status"]?.text == "succeeded")
        let dry = try await scene.broker.command(
          ["send", BytePath(asset), "--to", BytePath(other), "--dry-run"]
        )
        #expect(dry.code != 0)
        #expect(dry.errors.contains("access_limited"))
        let refused = try await Self.send(scene, asset, to: other)
        #expect(refused["status"]?.text == "refused")
        #expect(refused["error"]?["code"]?.text == "access_limited")
        #expect(refused["error"]?["effect"]?.text == "none")
      }
    }
  }

  // MARK: Parts

  /// An `exec` destination that repeats its token in a success's output.
  private static func exec(_ name: String, _ more: String = "") -> String {
    let script = """
      token=$(sed -n 's/.*"state":"\\([^"]*\\)".*/\\1/p'); printf %s "$token" > $HANDOFF_WORK/token; \
      printf '{"protocol_version":3,"state":"%s","result":"success","output":{"said":"%s"}}\\n' \
      "$token" "$token"
      """
    return """
      [destination.\(name)]
      transport = "exec"
      command = ["/bin/sh", "-c", '''\(script)''']
      containment = "none"
      \(more)

      """
  }

  private static func importAsset(_ scene: Scene, _ number: UInt64) async throws -> String {
    let path = scene.broker.root.appending("by hand \(number).mp4")
    try DurableFile.write(try await Scene.video(number), to: path)
    let asset = try await scene.broker.json("import", path)
    let first = asset.elements.first ?? asset
    return try #require(first["local_identifier"]?.text)
  }

  /// Sends an asset and waits for the end, whatever it is.
  private static func send(
    _ scene: Scene,
    _ asset: String,
    to destination: String
  ) async throws -> JSONValue {
    let ended = try await scene.broker.command(
      ["send", BytePath(asset), "--to", BytePath(destination), "--wait", "--json"]
    )
    try #require(!ended.output.isEmpty, "send: \(ended.code) \(ended.errors)")
    let answer = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return try #require(answer.elements.first)
  }

  private static func begin(
    _ scene: Scene,
    _ asset: String,
    to destination: String
  ) async throws {
    _ = try await scene.broker.json("send", BytePath(asset), "--to", BytePath(destination))
  }

  private static func removeObject(_ scene: Scene, of asset: String) async throws {
    let assets = try await scene.broker.json("assets").elements
    let record = try #require(assets.first { $0["local_identifier"]?.text == asset })
    let digest = try #require(record["sha256"]?.text)
    let object = scene.broker.root.appending("library/objects/\(digest.prefix(2))/\(digest)")
    try #require(unlink(object.nulTerminated) == 0)
  }

  /// The newest first.
  private static func statuses(_ handoffs: JSONValue) -> [String] {
    handoffs.elements.compactMap { $0["status"]?.text }
  }
}
