import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Callbacks and the alert, as the built broker serves them.
@Suite("Notices")
struct NoticeTests {
  @Test(
    "a refused export is told to its folder's callback and to the alert, once, over a restart too",
    .timeLimit(.minutes(2)),
    arguments: [SIGTERM, SIGKILL]
  )
  func refusedExport(signal: CInt) async throws {
    try await NoticeScene.run(editor: "cat >> \"$1\"") { scene in
      let junk = scene.exports.appending("note.mp4")
      try scene.base.write(Array("no video at all".utf8), to: "note.mp4")
      let told = try await scene.told(.ops) { $0.count == 1 }
      #expect(told[0]["kind"]?.text == "refused_export")
      #expect(told[0]["path"]?.text == junk.lossyText)
      #expect(told[0]["folder"]?.text == scene.exports.lossyText)
      #expect(told[0]["result"]?.text == "refused")
      #expect(told[0]["reason"]?.text?.isEmpty == false)
      let failed = told[0]["evidence"]?.elements.filter { $0["passed"] == .bool(false) }
      #expect(failed?.isEmpty == false)
      #expect(try await scene.told(.editor) { $0.count == 1 }.first?["path"] == told[0]["path"])

      await scene.broker.end(signal)
      try await scene.broker.start()
      _ = try await scene.broker.wait("why", junk) { $0["state"]?.text == "refused" }
      try scene.base.write(Array("no video either".utf8), to: "other.mp4")
      for place in [NoticeScene.Place.ops, .editor] {
        let all = try await scene.told(place) { all in
          all.contains { $0["title"]?.text == "other.mp4" }
        }
        #expect(NoticeScene.count(all.filter { $0["title"]?.text == "note.mp4" }) == 1)
      }
      try await scene.untilNothingIsPending()
      #expect(NoticeScene.count(try scene.told(.editor)) == 2)
      #expect(NoticeScene.count(try scene.told(.ops)) == 2)
      // Another content under the same name is another refusal.
      try scene.base.write(Array("still no video, but longer".utf8), to: "note.mp4")
      _ = try await scene.told(.ops) { NoticeScene.count($0) == 3 }
    }
  }

  @Test(
    "each end of a handoff is told to its sender, and doubt to the alert",
    .timeLimit(.minutes(2))
  )
  func results() async throws {
    try await NoticeScene.run(editor: "cat >> \"$1\"", handoff: "\"ok\"") { scene in
      try scene.base.write(try await Scene.video(1), to: "cut.mp4")
      let automatic = try await scene.told(.editor) { $0.count == 1 }[0]
      #expect(automatic["result"]?.text == "success")
      #expect(automatic["title"]?.text == "cut")
      #expect(automatic["destination"]?.text == "ok")
      let asset = try #require(automatic["local_identifiers"]?.elements.first?.text)

      let ends = [("cancels", "cancelled", "cancelled"), ("fails", "failure", "failed")]
      for (destination, result, status) in ends {
        let id = try await scene.send(asset, to: destination, key: "key of \(destination)")
        let all = try await scene.told(.editor) { all in
          all.contains { $0["handoff_id"]?.text == id }
        }
        let notice = try #require(all.first { $0["handoff_id"]?.text == id })
        #expect(notice["result"]?.text == result)
        #expect(notice["status"]?.text == status)
        #expect(notice["key"]?.text == "key of \(destination)")
      }

      let unknown = try await scene.send(asset, to: "dies", key: nil)
      let doubt = try await scene.told(.ops) { $0.count == 1 }[0]
      #expect(doubt["kind"]?.text == "outcome_unknown")
      #expect(doubt["handoff_id"]?.text == unknown)
      #expect(try scene.told(.editor).count == 3)
      _ = try await scene.broker.json("adopt", BytePath(unknown))
      let adopted = try await scene.told(.editor) { $0.count == 4 }[3]
      #expect(adopted["status"]?.text == "succeeded")
      try await scene.untilNothingIsPending()
      let shown = try await scene.broker.json("show", BytePath(unknown))
      #expect(shown["notices"]?.elements.map { $0["kind"]?.text } == ["outcome_unknown", "result"])
      #expect(shown["notices"]?.elements.allSatisfy { $0["state"]?.text == "delivered" } == true)
      let refused = try await scene.broker.command(["retry", "n1"])
      #expect(refused.code == 4)
      #expect(refused.errors.contains("n1 is delivered"))
    }
  }

  @Test(
    "Case 89: only a configured id says where to tell, never an address of the request",
    .timeLimit(.minutes(1))
  )
  func unknownCallback() async throws {
    let addresses: [BytePath] = [
      "nobody", "https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)",
      "file:///etc/passwd", "https://good.example@evil.example", "editor\r\nHost: evil.example",
      BytePath(String(repeating: "a", count: 10_000)), "../editor", "EDITOR",
    ]
    try await NoticeScene.run(editor: "cat >> \"$1\"") { scene in
      let path = scene.broker.root.appending("by hand.mp4")
      try DurableFile.write(try await Scene.video(1), to: path)
      for address in addresses {
        let sent = try await scene.broker.command(
          ["send", path, "--to", "ok", "--callback", address]
        )
        #expect(sent.code == 4, "\(address)")
        #expect(sent.errors.contains("callback_unknown"), "\(address)")
      }
      #expect(try await scene.broker.json("handoffs").elements.isEmpty)

      // What a sender says of itself is text, wherever it is put in.
      let asset = try #require(
        try await scene.broker.json("assets").elements.first?["local_identifier"]?.text
      )
      let id = try await scene.send(asset, to: "ok", key: "--title; touch owned")
      let told = try await scene.told(.editor) { $0.count == 1 }[0]
      #expect(told["handoff_id"]?.text == id)
      #expect(told["key"]?.text == "--title; touch owned")
    }
  }

  @Test("a callback that fails twice and then works has the notice once", .timeLimit(.minutes(2)))
  func retries() async throws {
    let script = """
      echo >> "$1.runs"
      [ "$(wc -l < "$1.runs")" -ge 3 ] || { echo "not yet" >&2; exit 1; }
      cat >> "$1"
      """
    try await NoticeScene.run(editor: script, handoff: "\"ok\"") { scene in
      try scene.base.write(try await Scene.video(1), to: "cut.mp4")
      let failing = try await scene.broker.wait("status") { status in
        status["notices"]?.elements.contains { $0["error"] != .null } == true
      }
      let waiting = try #require(failing["notices"]?.elements.first)
      #expect(waiting["callback_id"]?.text == "editor")
      #expect(waiting["error"]?.text?.hasSuffix("not yet") == true)
      #expect(failing["counts"]?["notices.pending"]?.integer == 1)
      let told = try await scene.told(.editor) { $0.count == 1 }[0]
      try await scene.untilNothingIsPending()
      #expect(try scene.told(.editor).count == 1)
      let id = try #require(told["handoff_id"]?.text)
      let notice = try await scene.broker.json("show", BytePath(id))["notices"]?.elements.first
      #expect(notice?["attempts"]?.integer == 3)
      #expect(notice?["id"] == told["notice_id"])
    }
  }

  @Test("a notice that was given up is listed, and a person decides", .timeLimit(.minutes(2)))
  func givenUp() async throws {
    let script = "[ -e \"$1.mended\" ] || { echo 'no such host'; exit 1; }; cat >> \"$1\""
    try await NoticeScene.run(editor: script, handoff: "\"ok\", \"cancels\"") { scene in
      try scene.base.write(try await Scene.video(1), to: "cut.mp4")
      _ = try await scene.broker.wait("status") { status in
        status["notices"]?.elements.count { $0["error"] != .null } == 2
      }
      // A day passes while the broker is down.
      await scene.broker.end(SIGTERM)
      try await scene.inLedger("UPDATE notices SET first_attempt_at = first_attempt_at - 90000000")
      try await scene.broker.start()
      let status = try await scene.broker.wait("status") {
        $0["needs_person"]?.elements.count == 2
      }
      #expect(status["counts"]?["notices.failed"]?.integer == 2)
      let entry = try #require(status["needs_person"]?.elements.first)
      #expect(entry["id"]?.text == "n1")
      #expect(entry["state"]?.text == "failed")
      #expect(entry["callback_id"]?.text == "editor")
      #expect(entry["error"]?.text?.hasSuffix("no such host") == true)
      let shown = try await scene.broker.command(["status"])
      #expect(String(decoding: shown.output, as: UTF8.self).contains("no such host"))

      try DurableFile.write([], to: scene.path(.editor).addingSuffix(".mended"))
      #expect(try await scene.broker.json("retry", "n1")["state"]?.text == "pending")
      #expect(try await scene.told(.editor) { $0.count == 1 }[0]["notice_id"]?.text == "n1")
      #expect(try await scene.broker.json("cancel", "n2")["state"]?.text == "delivered")
      let after = try await scene.broker.json("status")
      #expect(after["needs_person"]?.elements.isEmpty == true)
      #expect(try scene.told(.editor).count == 1)
      #expect(try await scene.broker.command(["cancel", "n9"]).code == 3)
    }
  }

  @Test(
    "a broker that is killed while it tells tells again after its start",
    .timeLimit(.minutes(2))
  )
  func killed() async throws {
    // The first run waits at a gate that nobody opens while the broker lives.
    let script = """
      echo >> "$1.runs"
      [ "$(wc -l < "$1.runs")" -ge 2 ] || { read line < "$1.gate"; exit 1; }
      cat >> "$1"
      """
    try await NoticeScene.run(editor: script, handoff: "\"ok\"") { scene in
      let gate = scene.path(.editor).addingSuffix(".gate")
      try checked("mkfifo", gate) { mkfifo(gate.nulTerminated, 0o600) }
      try scene.base.write(try await Scene.video(1), to: "cut.mp4")
      let runs = scene.path(.editor).addingSuffix(".runs")
      _ = try await poll(within: .seconds(40)) { try FileStatus.of(runs)?.size == 1 ? true : nil }
      await scene.broker.end(SIGKILL)
      #expect(try scene.told(.editor).isEmpty)
      try await scene.broker.start()
      let told = try await scene.told(.editor) { $0.count == 1 }[0]
      #expect(told["result"]?.text == "success")
      try await scene.untilNothingIsPending()
      // Lets the orphan of the first broker end.
      let open = try FileDescriptor.open(gate, O_RDWR | O_NONBLOCK)
      try open.write([UInt8(ascii: "\n")])
      #expect(try FileStatus.of(runs)?.size == 2)
    }
  }

  @Test("low space is told once, however many exports wait for it", .timeLimit(.minutes(2)))
  func lowSpace() async throws {
    try await NoticeScene.run(editor: "cat >> \"$1\"", reserve: "99.99%") { scene in
      for number in 1...3 {
        try scene.base.write(try await Scene.video(UInt64(number)), to: BytePath("\(number).mp4"))
      }
      _ = try await scene.broker.wait("status") { status in
        status["candidates"]?.elements.count { $0["state"]?.text == "no_space" } == 3
      }
      for place in [NoticeScene.Place.ops, .editor] {
        let told = try await scene.told(place) { !$0.isEmpty }
        #expect(told.map { $0["kind"]?.text } == ["low_space"])
      }
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      _ = try await scene.broker.wait("status") { status in
        status["candidates"]?.elements.count { $0["state"]?.text == "no_space" } == 3
      }
      // Comes after what the start has found.
      try scene.base.write(Array("no video".utf8), to: "note.mp4")
      let told = try await scene.told(.ops) { $0.count >= 2 }
      #expect(told.map { $0["kind"]?.text } == ["low_space", "refused_export"])
    }
  }

  @Test("a destination that cannot be kept up is told to the alert once", .timeLimit(.minutes(2)))
  func destinationDown() async throws {
    let broken = """
      [destination.broken]
      transport = "plugin"
      command = ["/bin/false"]

      """
    try await NoticeScene.run(editor: "cat >> \"$1\"", more: broken) { scene in
      let told = try await scene.told(.ops) { !$0.isEmpty }
      #expect(told.map { $0["kind"]?.text } == ["destination_down"])
      #expect(told[0]["destination"]?.text == "broken")
      #expect(told[0]["reason"]?.text?.isEmpty == false)
      let status = try await scene.broker.json("status")
      let broken = status["destinations"]?.elements.first { $0["name"]?.text == "broken" }
      #expect(broken?["status"]?.text == "circuit_open")
    }
  }

  @Test("a callback that hangs does not keep the broker from stopping", .timeLimit(.minutes(2)))
  func hanging() async throws {
    let script = "echo $$ > \"$1.pid\"; mv \"$1.pid\" \"$1.started\"; exec sleep 600"
    try await NoticeScene.run(editor: script, handoff: "\"ok\"") { scene in
      try scene.base.write(try await Scene.video(1), to: "cut.mp4")
      let started = scene.path(.editor).addingSuffix(".started")
      let found = try await poll(within: .seconds(40)) {
        try FileStatus.of(started).map { _ in true }
      }
      try #require(found == true)
      let moment = ContinuousClock.now
      #expect(await scene.broker.end(SIGTERM) == .exited(0))
      #expect(moment.duration(to: .now) < .seconds(25))
      let bytes = try FileDescriptor.open(started, O_RDONLY).readAll(limit: 100)
      let id = try #require(pid_t(String(decoding: bytes.dropLast(), as: UTF8.self)))
      #expect(kill(id, 0) == -1)
      // It is still to be told.
      let handoff = try await scene.broker.json("show", "h1")
      #expect(handoff["notices"]?.elements.map { $0["state"]?.text } == ["pending"])
    }
  }
}

/// A broker with a folder's callback that is a script, and an alert that is a file.
private struct NoticeScene {
  /// Where a callback writes what it was told.
  enum Place: String {
    case editor
    case ops
  }

  let base: Scene

  var broker: RunningBroker { base.broker }
  var exports: BytePath { base.exports }

  static func run(
    editor script: String,
    handoff: String = "",
    reserve: String = "1%",
    more: String = "",
    _ body: nonisolated(nonsending) (NoticeScene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { base in
      let scene = NoticeScene(base: base)
      let program = try base.script("editor", script)
      try DurableFile.write(
        Array((scene.configuration(program, handoff: handoff, reserve: reserve) + more).utf8),
        to: base.broker.config
      )
      try await base.broker.start()
      try await body(scene)
    }
  }

  private func configuration(_ program: String, handoff: String, reserve: String) -> String {
    """
    [broker]
    state = "state"
    listen = ""
    alert = "ops"
    [library]
    path = "library"
    reserve = "\(reserve)"
    [[drop_folder]]
    path = "exports"
    quiet = "100ms"
    give_up = "1s"
    callback = "editor"
    handoff = [\(handoff)]
    [callback.editor]
    exec = ["\(program)", "\(path(.editor))", "{title}"]
    [callback.ops]
    file = "ops.jsonl"

    """ + Self.destination("ok", "exit 0") + Self.destination("cancels", "exit 77")
      + Self.destination("fails", "exit 75") + Self.destination("dies", "exit 3")
  }

  private static func destination(_ name: String, _ script: String) -> String {
    """
    [destination.\(name)]
    transport = "exec"
    command = ["/bin/sh", "-c", "\(script)"]
    retry = { for = "1s", first = "100ms", max = "200ms" }

    """
  }

  func path(_ place: Place) -> BytePath { broker.root.appending("\(place.rawValue).jsonl") }

  /// What has been told so far, in order.
  func told(_ place: Place) throws -> [JSONValue] {
    guard try FileStatus.of(path(place)) != nil else { return [] }
    let bytes = try FileDescriptor.open(path(place), O_RDONLY).readAll(limit: 1 << 24)
    // A line that is being written does not count yet.
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return try lines.dropLast().map { try WireCoder.decode(JSONValue.self, from: $0) }
  }

  /// How many notices these are: what a kill has kept from being recorded comes again under its id.
  static func count(_ told: [JSONValue]) -> Int { Set(told.map { $0["notice_id"]?.text }).count }

  /// Looks until what was told fulfils something.
  func told(_ place: Place, until isRight: ([JSONValue]) -> Bool) async throws -> [JSONValue] {
    let found = try await poll(within: .seconds(40), every: .milliseconds(50)) {
      () -> [JSONValue]? in
      let told = try told(place)
      return isRight(told) ? told : nil
    }
    let (all, log) = (try told(place), try broker.tail())
    return try #require(found, "in vain: \(place) has \(all); \(log)")
  }

  /// Changes the ledger of a broker that is down.
  func inLedger(_ statement: String) async throws {
    let tool = try #require(
      CommandSearch.find("sqlite3", on: "/usr/local/bin:/usr/bin:/bin"),
      "sqlite3 is not installed"
    )
    let database = broker.root.appending("state/ledger.db")
    let command = ProcessCommand(tool, arguments: [database, BytePath(statement)])
    try #require(await SpawnedProcess.spawn(command).exit() == .exited(0))
  }

  func untilNothingIsPending() async throws {
    _ = try await broker.wait("status") { $0["counts"]?["notices.pending"]?.integer == 0 }
  }

  /// Sends an asset with the editor as the callback, and returns the handoff's id.
  func send(_ asset: String, to destination: String, key: String?) async throws -> String {
    let key = key.map { [BytePath("--key"), BytePath($0)] } ?? []
    let ended = try await broker.command(
      ["send", BytePath(asset), "--to", BytePath(destination), "--callback", "editor", "--json"]
        + key
    )
    try #require(ended.code == 0, "send: \(ended.errors)")
    let answer = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return try #require(answer.elements.first?["id"]?.text)
  }
}
