import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The `url` transport through the real broker: opened by a script, answered by `handoff result`.
@Suite("Handoffs by URL", .timeLimit(.minutes(2)))
struct URLTests {
  @Test(
    "an app that the opener starts answers with a URL; its result is unverified, and counts once"
  )
  func answered() async throws {
    try await Self.run { scene in
      let identifier = try await Self.imported(scene)
      let sent = try await scene.broker.json(
        "send",
        identifier,
        "--to",
        "desktop",
        "--title",
        "Day 1 + ü",
        "--wait"
      )
      let handoff = try #require(sent.elements.first)
      #expect(handoff["status"]?.text == "succeeded")
      #expect(handoff["origin"]?.text == "unverified")
      #expect(handoff["output"]?["url"]?.text == "https://a.example/1")
      let shown = try await scene.broker.json("show", BytePath(try handoff.text(of: "id")))
      #expect(shown["origin"]?.text == "unverified")
      let url = try Self.text(scene, "opened")
      let request = try HandoffURL.decodeRequest(Array(url.utf8))
      #expect(request.title == "Day 1 + ü")
      #expect(request.expiresAt != nil, "the moment after which the token is dead")
      let token = request.state.revealed
      let again = try await scene.broker.command(["result", BytePath(Self.success(token))])
      #expect(again.code == 4)
      #expect(again.errors.contains("already_consumed"))
      for said in [again.errors, try scene.broker.wholeLog] { #expect(!said.contains(token)) }
    }
  }

  @Test("unknown, foreign, late and malformed results have their exit codes, and change nothing")
  func refused() async throws {
    try await Self.run(answering: false) { scene in
      let identifier = try await Self.imported(scene)
      let unknown = "1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      let ended = try await scene.broker.command(["result", BytePath(Self.success(unknown))])
      #expect(ended.code == 3)
      #expect(ended.errors.contains("unknown_state"))
      #expect(!ended.errors.contains(unknown))
      #expect(
        try await scene.broker.command(["result", "editor://result?result=success"]).code == 4
      )
      // The token of an exec receiver, which does not answer this way.
      let exec = try await Self.send(scene, identifier, "script", until: "outcome_unknown")
      let stolen = try Self.text(scene, "stolen")
      let foreign = try await scene.broker.command(["result", BytePath(Self.success(stolen))])
      #expect(foreign.code == 4)
      #expect(foreign.errors.contains("wrong_destination"))
      #expect(try await scene.broker.json("show", exec)["status"]?.text == "outcome_unknown")
      // A document on standard input, after the handoff was cancelled.
      let open = try await Self.send(scene, identifier, "desktop", until: "accepted")
      let token = try HandoffURL.decodeRequest(Array(Self.text(scene, "opened").utf8)).state
        .revealed
      _ = try await scene.broker.json("cancel", open)
      let line =
        "printf '{\"protocol_version\":3,\"state\":\"\(token)\",\"result\":\"success\"}' "
        + "| '\(RunningBroker.program.lossyText)' result - --config '\(scene.broker.config.lossyText)'"
      #expect(await shell(line + " 2>/dev/null") == 7 << 8)
      let late = try await scene.broker.json("show", open)
      #expect(late["status"]?.text == "cancelled")
      #expect(late["late_results"] == .integer(1))
    }
  }

  @Test(
    "an opener that is not there waits; one that fails leaves the outcome to the result or a person"
  )
  func failing() async throws {
    try await Self.run(answering: false) { scene in
      let identifier = try await Self.imported(scene)
      let opener = scene.broker.root.appending("opener.sh")
      let recording = try Self.text(scene, "opener.sh")
      try DurableFile.write(
        Array((recording + "\nexit 4\n").utf8),
        to: opener,
        permissions: 0o755
      )
      let open = try await Self.send(scene, identifier, "desktop", until: "outcome_unknown")
      // It had opened the app after all.
      let token = try HandoffURL.decodeRequest(Array(Self.text(scene, "opened").utf8)).state
        .revealed
      let result = try await scene.broker.json("result", BytePath(Self.success(token)))
      #expect(result["id"]?.text == open.lossyText)
      #expect(result["status"]?.text == "succeeded")
      try DurableFile.unlink(opener)
      _ = try await scene.broker.json("send", identifier, "--to", "desktop", "--again")
      _ = try await scene.broker.wait("handoffs") { handoffs in
        let newest = handoffs.elements.first
        return newest?["status"]?.text == "pending" && newest?["error"]?["effect"]?.text == "none"
          && newest?["waiting"]?["reason"]?.text == "backoff"
      }
      let down = try await scene.broker.json("status")["destinations"]?.elements.first
      #expect(down?["detail"]?.text?.contains("opener.sh is not there") == true)
    }
  }

  @Test("a restart keeps what was opened open: the result may still come")
  func restarted() async throws {
    try await Self.run(answering: false) { scene in
      let identifier = try await Self.imported(scene)
      let open = try await Self.send(scene, identifier, "desktop", until: "accepted")
      await scene.broker.end(SIGKILL)
      try await scene.broker.start()
      #expect(try await scene.broker.json("show", open)["status"]?.text == "accepted")
      let token = try HandoffURL.decodeRequest(Array(Self.text(scene, "opened").utf8)).state
        .revealed
      // In another version than the request.
      let other = Self.success(token).replacing("version=3", with: "version=2")
      let odd = try await scene.broker.command(["result", BytePath(other)])
      #expect(odd.code == 4)
      #expect(odd.errors.contains("malformed_result"))
      #expect(try await scene.broker.json("show", open)["status"]?.text == "accepted")
      let result = try await scene.broker.json("result", BytePath(Self.success(token)))
      #expect(result["status"]?.text == "succeeded")
    }
  }

  // MARK: The scene

  private static func run(
    answering: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    let none = Scene.configuration()
    try await Scene.run(none, starting: false) { scene in
      let opener = try scene.script("opener", answering ? answer(scene) : record(scene))
      let thief = try scene.script(
        "thief",
        "sed -n 's/.*\"state\":\"\\([^\"]*\\)\".*/\\1/p' > '\(scene.broker.root.lossyText)/stolen'; exit 1"
      )
      let destinations = """
        [destination.desktop]
        transport = "url"
        url = "editor://handoff"
        opener = ["\(opener)"]
        [destination.script]
        transport = "exec"
        command = ["\(thief)"]
        containment = "none"
        """
      try DurableFile.write(
        Array(Scene.configuration(destinations: destinations).utf8),
        to: scene.broker.config
      )
      try await scene.broker.start()
      try await body(scene)
    }
  }

  private static func record(_ scene: Scene) -> String {
    "printf '%s\\n' \"$1\" > '\(scene.broker.root.lossyText)/opened'"
  }

  /// What a desktop app does, by hand.
  private static func answer(_ scene: Scene) -> String {
    """
    \(record(scene))
    token=$(printf '%s' "$1" | sed 's/.*[?&]state=\\([^&]*\\).*/\\1/')
    version=$(printf '%s' "$1" | sed 's/.*[?&]protocol_version=\\([^&]*\\).*/\\1/')
    url="editor://result?protocol_version=$version&state=$token&result=success"
    exec '\(RunningBroker.program.lossyText)' result --config '\(scene.broker.config.lossyText)' \
      "$url&output.url=https://a.example/1"
    """
  }

  private static func success(_ token: String) -> String {
    "editor://result?protocol_version=3&state=\(token)&result=success&output.id=7"
  }

  private static func imported(_ scene: Scene) async throws -> BytePath {
    try scene.write(try await Scene.video(1), to: "Day 1 + ü.mp4")
    return BytePath(try await scene.identifier(of: "Day 1 + ü.mp4"))
  }

  /// Sends an asset, and waits for a status.
  private static func send(
    _ scene: Scene,
    _ identifier: BytePath,
    _ destination: BytePath,
    until status: String
  ) async throws -> BytePath {
    let sent = try await scene.broker.json("send", identifier, "--to", destination, "--again")
    let id = BytePath(try #require(sent.elements.first).text(of: "id"))
    _ = try await scene.broker.wait("show", id) { $0["status"]?.text == status }
    return id
  }

  /// A file's text; of the one that the opener writes, the URL that it was given last.
  private static func text(_ scene: Scene, _ name: String) throws -> String {
    let path = scene.broker.root.appending(name)
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 65_536)
    let text = String(decoding: bytes, as: UTF8.self)
    return text.last == "\n" ? String(text.dropLast()) : text
  }
}
