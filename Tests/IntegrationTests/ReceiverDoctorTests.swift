import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("The doctor and the receivers", .timeLimit(.minutes(3)))
struct ReceiverDoctorTests {
  private static func lines(_ scene: Scene) async throws -> (CInt, [JSONValue]) {
    let ended = try await scene.broker.command(["doctor", "--json"])
    let report = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return (
      ended.code, report["checks"]?.elements.filter { $0["check"]?.text == "receivers" } ?? []
    )
  }

  private static func texts(_ name: String, _ lines: [JSONValue]) -> [String] {
    lines.filter { $0["destination"]?.text == name }.map {
      "\($0["standing"]?.text ?? ""): \($0["text"]?.text ?? "")"
    }
  }

  @Test("each plugin's own words, with and without a broker; the strange ones are lines too")
  func plugins() async throws {
    let plugins = ["checks", "plain", "old", "shape", "die", "down"].map { ($0, $0, "") }
    try await LookingPlugin.run(plugins, starting: false) { scene in
      for isRunning in [false, true] {
        if isRunning {
          try await scene.broker.start()
          _ = try await scene.broker.wait("destinations") { list in
            list.elements.allSatisfy { $0["status"]?.text == "up" }
          }
        }
        let (code, lines) = try await Self.lines(scene)
        #expect(code == 1)
        let checks = Self.texts("checks", lines)
        #expect(checks.contains("ok: checks: credentials: the token is that of @me"), "\(lines)")
        #expect(checks.contains("problem: checks: limits: the account is full"))
        let remedy = lines.first { $0["text"]?.text?.contains("is full") == true }?["remedy"]
        #expect(remedy?.text == "empty it")
        let silent = "looker 1 answers; it says nothing of credentials"
        #expect(Self.texts("plain", lines) == ["ok: plain: \(silent)"])
        #expect(Self.texts("old", lines) == ["ok: old: \(silent)"])
        #expect(Self.texts("down", lines).contains { $0.contains("no network") })
        for name in ["shape", "die"] {
          let texts = Self.texts(name, lines)
          #expect(texts.count == 1 && texts[0].hasPrefix("problem: \(name): looker 1"), "\(texts)")
        }
      }
      #expect(try scene.heard(by: "checks").allSatisfy { !$0.hasPrefix("submit") })
    }
  }

  @Test("without a broker the real work folder is left alone, and a plugin that hangs is a line")
  func thrownAway() async throws {
    try await LookingPlugin.run([("hang", "hang", "idle = \"2s\"")], starting: false) { scene in
      let start = ContinuousClock.now
      let (code, lines) = try await Self.lines(scene)
      #expect(code == 1)
      #expect(Self.texts("hang", lines).first?.hasPrefix("problem: hang: ") == true, "\(lines)")
      #expect(start.duration(to: .now) < .seconds(15))
      #expect(try FileStatus.of(scene.broker.root.appending("state/work/hang")) == nil)
    }
  }

  @Test(
    "a folder that is missing, or that containment would put elsewhere, is named with its remedy"
  )
  func folders() async throws {
    guard await shell("bwrap --ro-bind / / --unshare-pid true 2>/dev/null") == 0 else {
      return print("skipped, nothing can be contained here")
    }
    try await Scene.run("", starting: false) { scene in
      let destination = { (name: String, write: String, more: String) in
        """
        [destination.\(name)]
        transport = "plugin"
        command = ["handoff-archive"]
        write = [\(write)]
        [destination.\(name).settings]
        folder = "./archive"
        \(more)

        """
      }
      let text = Scene.configuration(
        destinations: destination("missing", "\"archive\"", "") + destination("forgotten", "", "")
          + destination("refused", "\"shelf\"", "layout = \"{titel}\"")
          + destination("typo", "\"shelf\"", "laiout = \"{title}\"").replacing(
            "./archive",
            with: "./shelf"
          )
      )
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try Directory.create(scene.broker.root.appending("shelf"))
      for isRunning in [false, true] {
        if isRunning {
          try await scene.broker.start()
          _ = try await scene.broker.wait("destinations") { list in
            list.elements.allSatisfy { $0["status"]?.text == "up" || $0["detail"]?.text != nil }
          }
        }
        let (code, lines) = try await Self.lines(scene)
        #expect(code == 1)
        let missing = Self.texts("missing", lines)
        #expect(missing.count == 1 && missing[0].hasPrefix("problem"), "\(missing)")
        #expect(missing[0].contains("archive in its write is not there: create it"), "\(missing)")
        let forgotten = Self.texts("forgotten", lines)
        #expect(forgotten.count == 1 && forgotten[0].hasPrefix("problem"), "\(forgotten)")
        #expect(forgotten[0].contains("add it to the destination's write"), "\(forgotten)")
        let refused = Self.texts("refused", lines)
        #expect(refused.count == 1 && refused[0].contains("{titel}"), "\(refused)")
        let typo = Self.texts("typo", lines)
        let unknown = "warning: typo: settings.laiout is no setting of archive"
        #expect(typo.contains { $0.hasPrefix(unknown) }, "\(typo)")
      }
    }
  }

  @Test("the other transports: a program, a server that is only connected to, a folder")
  func others() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    try await Scene.run("", starting: false) { scene in
      let secret = scene.broker.root.appending("secret")
      try DurableFile.write(
        Array("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".utf8),
        to: secret,
        permissions: 0o600
      )
      let text = Scene.configuration(
        destinations: """
          [destination.script]
          transport = "exec"
          command = ["/bin/true"]
          [destination.hook]
          transport = "http"
          url = "http://127.0.0.1:\(server.port)/hook"
          secret = { file = "secret" }
          answer = "status"
          [destination.away]
          transport = "http"
          url = "http://127.0.0.1:1/hook"
          secret = { env = "HANDOFF_TEST_NOT_SET" }
          answer = "status"
          [destination.inbox]
          transport = "file"
          inbox = "inbox"
          """
      )
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      let (code, lines) = try await Self.lines(scene)
      #expect(code == 1)
      #expect(
        Self.texts("script", lines) == ["ok: script: program: /bin/true is there; it was not run"]
      )
      let hook = Self.texts("hook", lines)
      #expect(hook.count == 2 && hook.allSatisfy { $0.hasPrefix("ok") }, "\(hook)")
      let away = Self.texts("away", lines)
      #expect(away.count == 2 && away.allSatisfy { $0.hasPrefix("problem") }, "\(away)")
      #expect(away.contains { $0.contains("HANDOFF_TEST_NOT_SET") })
      #expect(Self.texts("inbox", lines).first?.hasPrefix("problem: inbox: folder") == true)
      try Directory.create(scene.broker.root.appending("inbox"))
      let (_, after) = try await Self.lines(scene)
      #expect(Self.texts("inbox", after).first?.hasPrefix("ok: inbox: folder") == true)
    }
    #expect(server.requests.isEmpty)
    server.stop()
  }
}
