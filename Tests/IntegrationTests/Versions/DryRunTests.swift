import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// `handoff send --dry-run`: the sender's checks, then the receiver's.
@Suite("Dry runs", .timeLimit(.minutes(2)))
struct DryRunTests {
  private static let plugins = [
    VersionedPlugin(name: "plain", versions: "[1, 2, 3]"),
    VersionedPlugin(name: "first", versions: "[1]"),
    VersionedPlugin(name: "picky", versions: "[1, 2, 3]", mode: "picky"),
    VersionedPlugin(name: "mute", versions: "[1, 2, 3]", mode: "mute"),
    VersionedPlugin(name: "later", versions: "[4]"),
  ]

  private static let script = """
    [destination.script]
    transport = "exec"
    command = ["/bin/true"]
    """

  private func dryRun(
    _ scene: VersionScene,
    _ destination: String,
    _ options: [BytePath] = []
  ) async throws -> (code: CInt, report: JSONValue, errors: String) {
    let ended = try await scene.scene.broker.command(
      [
        "send", BytePath(scene.assets[0].text), "--to", BytePath(destination), "--dry-run",
        "--json",
      ]
        + options
    )
    let answer = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return (ended.code, try #require(answer.elements.first), ended.errors)
  }

  @Test("asks the receiver, says what it would change or refuse, and submits nothing")
  func receivers() async throws {
    try await VersionedPlugin.run(Self.plugins, more: Self.script) { scene in
      for name in ["plain", "first", "picky", "mute"] {
        _ = try await scene.detail(of: name, when: "up")
      }
      let plain = try await dryRun(scene, "plain", ["--title", "Day 1"])
      #expect(plain.code == 0)
      #expect(plain.report["verdict"]?.text == "accepted")
      #expect(plain.report["preflight"]?.text == "answered")
      #expect(plain.report["protocol_version"]?.integer == 3)
      #expect(plain.report["changes"]?.elements == [.string("it would be made smaller")])
      let asked = try #require(try scene.noted("preflights", by: "plain").first)
      #expect(asked["request"]?["title"]?.text == "Day 1")
      #expect(asked["assets"]?.elements.first?["container"]?.text == "mp4")
      #expect(asked["request"]?["state"]?.text?.hasPrefix("preflight.") == true)

      let refused = try await dryRun(scene, "picky")
      #expect(refused.code == 4)
      #expect(refused.report["error"]?["code"]?.text == "quota")
      #expect(refused.report["error"]?["side"]?.text == "receiver")
      #expect(refused.errors.contains("picky: refused by the receiver: quota: full today"))

      let old = try await dryRun(scene, "first", ["--title", "Day 1"])
      #expect(old.code == 4)
      #expect(old.report["error"]?["code"]?.text == "version_incompatible")
      #expect(old.report["error"]?["side"]?.text == "sender")
      #expect(old.report["preflight"]?.text == "skipped")
      #expect(try await dryRun(scene, "first").report["protocol_version"]?.integer == 1)

      #expect(
        try await dryRun(scene, "mute").report["note"]?.text == "the receiver offers no preflight"
      )
      let script = try await dryRun(scene, "script")
      #expect(script.code == 0)
      #expect(script.report["note"]?.text == "transport exec has no preflight")
      #expect(script.report["preflight"]?.text == "unavailable")

      #expect(try await scene.scene.broker.json("handoffs").elements.isEmpty)
      for plugin in Self.plugins { #expect(try scene.noted("requests", by: plugin.name).isEmpty) }
    }
  }

  @Test("a receiver without a version in common refuses, before it is ever up")
  func noCommonVersion() async throws {
    try await VersionedPlugin.run([Self.plugins[4]]) { scene in
      _ = try await scene.detail(of: "later", when: "down")
      let later = try await dryRun(scene, "later")
      #expect(later.code == 4)
      #expect(later.report["error"]?["code"]?.text == "version_incompatible")
      #expect(later.report["error"]?["message"]?.text?.hasSuffix("the receiver reads 4") == true)
    }
  }

  @Test("refuses what sending would refuse: done before, a key with another body, too large, gone")
  func asSending() async throws {
    try await Scene.run(Scene.configuration(destinations: Self.script)) { scene in
      let name = try await scene.importedAsset(1)
      let asset = BytePath(name)
      let words: [BytePath] = ["send", asset, "--to", "script"]
      _ = try await scene.broker.json("send", asset, "--to", "script", "--key", "k1", "--wait")
      let long = BytePath(String(repeating: "a", count: 17_000))
      let expectations: [([BytePath], String?)] = [
        ([], "already_handed_off"), (["--again"], nil), (["--key", "k1"], nil),
        (["--key", "k1", "--title", "other"], "key_reused"),
        (["--again", "--title", long], "malformed_request"),
      ]
      for (options, code) in expectations {
        let dry = try await scene.broker.command(words + options + ["--dry-run", "--json"])
        let report = try WireCoder.decode(JSONValue.self, from: dry.output).elements.first
        #expect(report?["error"]?["code"]?.text == code)
        #expect(dry.code == (code == nil ? 0 : 4))
        let sent = try await scene.broker.command(words + options)
        #expect(sent.code == dry.code, "\(sent.errors)")
        if let code { #expect(sent.errors.contains(code)) }
      }
      let digest = try #require(try await scene.asset(name)["sha256"]?.text)
      try DurableFile.unlink(scene.object(digest))
      let gone = try await scene.broker.command(words + ["--again", "--dry-run"])
      #expect(gone.code == 4)
      #expect(gone.errors.contains("asset_missing"))
    }
  }

  @Test("says it to people, for each destination")
  func people() async throws {
    try await VersionedPlugin.run([Self.plugins[0]], more: Self.script) { scene in
      _ = try await scene.detail(of: "plain", when: "up")
      let asset = BytePath(scene.assets[0].text)
      let ended = try await scene.scene.broker.command(
        ["send", asset, "--to", "plain", "--to", "script", "--dry-run"]
      )
      #expect(ended.code == 0)
      #expect(
        String(decoding: ended.output, as: UTF8.self) == """
          plain: would be taken (protocol version 3)
          plain: would change: it would be made smaller
          plain: nothing was submitted
          script: passes the sender's checks (protocol version 3)
          script: transport exec has no preflight
          script: nothing was submitted

          """
      )
    }
  }
}
