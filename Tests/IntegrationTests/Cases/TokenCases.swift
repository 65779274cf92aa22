import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A state token counts once, for its handoff, its destination and its time.
@Suite("Cases: state tokens")
struct TokenCases {
  @Test("Case 40: a used token is refused, at once and after a restart", .timeLimit(.minutes(2)))
  func usedToken() async throws {
    try await ObedientPlugin.run(["plug"]) { scene in
      let id = try await scene.sendMany(1, try await scene.importedAsset(1), to: "plug")[0]
      var plugin = try await ObedientPlugin("plug", scene)
      let token = try await plugin.given(1)[0].token
      let result = ObedientPlugin.result(token, "success", ["output": .object(["n": .integer(1)])])
      #expect(try await plugin.report("first", result) == "ok")
      let before = try await scene.handoff(id)
      #expect(try await plugin.report("second", result) == "already_consumed")
      let other = ObedientPlugin.result(token, "failure")
      #expect(try await plugin.report("third", other) == "already_consumed")
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      plugin = try await ObedientPlugin("plug", scene)
      #expect(try await plugin.report("fourth", other) == "already_consumed")
      #expect(try await scene.handoff(id) == before)
      let events = try await scene.broker.json("history", BytePath(id)).elements
      // One line for each kind: a second failure is counted with the first.
      #expect(events.count { $0["event"]?.text == "result_refused" } == 2)
    }
  }

  @Test(
    "A result from the wrong destination, with an unknown token, or for a cancelled handoff",
    .timeLimit(.minutes(2))
  )
  func foreign() async throws {
    try await ObedientPlugin.run(["plug", "other"]) { scene in
      let asset = try await scene.importedAsset(1)
      let ids = try await scene.sendMany(2, asset, to: "plug")
      let plugin = try await ObedientPlugin("plug", scene)
      let other = try await ObedientPlugin("other", scene)
      let given = try await plugin.given(2)
      let tokens = try ids.map { id in
        try #require(given.first { $0.handoff == id }).token
      }
      let wrong = try await other.report("w", ObedientPlugin.result(tokens[0]))
      #expect(wrong == "wrong_destination")
      let code = String(tokens[0].drop { $0 != "." })
      for (index, forged) in [
        "1.\(String(repeating: "A", count: 43))", "999999\(code)", "9223372036854775807\(code)",
        "\(tokens[0])A", String(tokens[0].dropLast()), "\(tokens[1].prefix(2))\(code.dropFirst())",
        "x",
      ].enumerated() where !tokens.contains(forged) {
        let verdict = try await plugin.report("u\(index)", ObedientPlugin.result(forged))
        #expect(verdict == "unknown_state", "forgery \(index)")
      }
      #expect(try await scene.handoff(ids[0])["status"]?.text == "accepted")
      _ = try await scene.broker.command(["cancel", BytePath(ids[1])])
      let cancelled = try await scene.handoff(ids[1])["status"]?.text
      let verdict = try await plugin.report("c", ObedientPlugin.result(tokens[1]))
      // A receiver that cannot be asked to cancel may finish: what it says then is kept as late.
      #expect(cancelled == "cancelled" ? verdict == "expired" : verdict == "ok")
      #expect(try await plugin.report("own", ObedientPlugin.result(tokens[0])) == "ok")
      #expect(try await scene.handoff(ids[0])["status"]?.text == "succeeded")
    }
  }

  @Test(
    "Case 41: of 50 results for one token from 50 processes one is applied, 100 times",
    .timeLimit(.minutes(3))
  )
  func race() async throws {
    try await ObedientPlugin.run(["plug"]) { scene in
      let count = 100
      let ids = try await scene.sendMany(count, try await scene.importedAsset(1), to: "plug")
      let plugin = try await ObedientPlugin("plug", scene)
      let tokens = try await plugin.given(count).map(\.token)
      try plugin.order(
        "race",
        "r",
        ["processes": .integer(50), "tokens": .array(tokens.map { .string($0) })]
      )
      let answers = try await plugin.answers("r", 50 * count)
      try Self.expectOneWinner(answers, of: count)
      let handoffs = try await scene.broker.json("handoffs", "--limit", "1000").elements
      #expect(handoffs.count == ids.count)
      let statuses = Set(handoffs.compactMap { $0["status"]?.text })
      #expect(statuses.isSubset(of: ["succeeded", "failed"]))
      // Every handoff has ended once, and every other result was counted, in one row for each kind.
      let refused = answers.count { $0.verdict == "already_consumed" }
      let counted = try await Self.count(
        "SELECT sum (times) FROM results WHERE verdict = 'already_consumed'",
        in: scene
      )
      #expect(counted == refused)
      for id in ids {
        let events = try await scene.broker.json("history", BytePath(id)).elements
        let others = events.filter { $0["event"]?.text != "result_refused" }
        let ends = others.count { ["succeeded", "failed"].contains($0["to"]?.text ?? "") }
        #expect(ends == 1, "\(id)")
        #expect((1...2).contains(events.count - others.count))
      }
    }
  }

  /// Asks the ledger as anybody may, with the sqlite3 tool.
  private static func count(_ query: BytePath, in scene: Scene) async throws -> Int? {
    let tool = try #require(CommandSearch.find("sqlite3", on: "/usr/local/bin:/usr/bin:/bin"))
    let ledger = scene.broker.root.appending("state/ledger.db")
    var command = ProcessCommand(tool, arguments: [ledger, query])
    let (reading, writing) = try FileDescriptor.pipe()
    command.descriptors[1] = writing
    let process = try await SpawnedProcess.spawn(command)
    try writing.close()
    try #require(await process.exit() == .exited(0))
    let said = String(decoding: try reading.readAll(limit: 1024), as: UTF8.self)
    return Int(said.filter(\.isNumber))
  }

  @Test(
    "Of 1,000 pairs of results at one instant exactly one wins each",
    .timeLimit(.minutes(3))
  )
  func pairs() async throws {
    try await ObedientPlugin.run(["plug"]) { scene in
      let count = 1000
      _ = try await scene.sendMany(count, try await scene.importedAsset(1), to: "plug")
      let plugin = try await ObedientPlugin("plug", scene)
      let tokens = try await plugin.given(count).map(\.token)
      try plugin.order(
        "race",
        "r",
        ["processes": .integer(2), "tokens": .array(tokens.map { .string($0) })]
      )
      try Self.expectOneWinner(try await plugin.answers("r", 2 * count), of: count)
    }
  }

  /// Each token's results are answered `ok` once and `already_consumed` else; those that found no place
  /// in the queue changed nothing.
  private static func expectOneWinner(
    _ answers: [ObedientPlugin.Answer],
    of count: Int
  ) throws {
    let tokens = Dictionary(grouping: answers) { $0.id.prefix { $0 != ":" } }
    #expect(tokens.count == count)
    for (token, answers) in tokens {
      #expect(answers.count { $0.verdict == "ok" } == 1, "\(token)")
      let others = Set(answers.map(\.verdict)).subtracting(["ok", "-32001"])
      #expect(others.isSubset(of: ["already_consumed"]), "\(token)")
    }
  }

  @Test(
    "Case 41: an exec receiver's last line alone is its result, and only with its own token",
    .timeLimit(.minutes(1)),
    arguments: [("twice", "failed"), ("foreign", "outcome_unknown")]
  )
  func exec(mode: String, status: String) async throws {
    let line = "{\"protocol_version\":3,\"state\":\"%s\",\"result\":"
    let failure =
      "\"failure\",\"error\":{\"code\":\"quota\",\"message\":\"no\",\"effect\":\"applied\"}}"
    let script = """
      token=$(sed -n 's/.*"state":"\\([^"]*\\)".*/\\1/p')
      printf '\(line)"success"}\\n' "$token"
      [ \(mode) = twice ] && printf '\(line)\(failure)\\n' "$token"
      [ \(mode) = foreign ] && printf '\(line)"success"}\\n' "1.$token"
      exit 0
      """
    try await Scene.run("", starting: false) { scene in
      let program = try scene.script("receiver", script)
      let destination = """
        [destination.shell]
        transport = "exec"
        command = ["\(program)"]
        containment = "none"
        """
      let text = Scene.configuration(destinations: destination)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      let id = try await scene.sendMany(1, try await scene.importedAsset(1), to: "shell")[0]
      let ended = try await scene.broker.wait("show", BytePath(id)) {
        ["failed", "outcome_unknown", "succeeded"].contains($0["status"]?.text ?? "")
      }
      #expect(ended["status"]?.text == status)
    }
  }

  @Test("Case 44: a restart loses no token, and no time is given again", .timeLimit(.minutes(2)))
  func restart() async throws {
    let settings = "ceiling = \"20s\"\nidle = \"20s\""
    try await ObedientPlugin.run(["plug"], settings: settings) { scene in
      let asset = try await scene.importedAsset(1)
      let ids = try await scene.sendMany(2, asset, to: "plug")
      let given = try await ObedientPlugin("plug", scene).given(2)
      try scene.broker.signal(SIGTERM)
      let drains = try await poll {
        try scene.broker.wholeLog.contains("Stopping: ") ? true : nil
      }
      #expect(drains == true)
      // The second does not wait for what the receiver holds.
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      let plugin = try await ObedientPlugin("plug", scene)
      #expect(try await plugin.given(2) == given)
      let token = try #require(given.first { $0.handoff == ids[0] }).token
      #expect(try await plugin.report("a", ObedientPlugin.result(token)) == "ok")
      #expect(try await scene.handoff(ids[0])["status"]?.text == "succeeded")
      // The other's ceiling is counted from its submission, not from the restart.
      let ended = try await scene.broker.wait("show", BytePath(ids[1])) {
        $0["status"]?.text == "expired"
      }
      let times = try ["submitted_at", "finished_at"].map { name in
        try #require(Timestamp(rfc3339: ended.text(of: name)))
      }
      #expect(times[1].since(times[0]) >= .seconds(20))
      #expect(times[1].since(times[0]) < .seconds(28))
    }
  }

  @Test("Case 44: while the broker drains, a handoff's time ends as ever", .timeLimit(.minutes(2)))
  func draining() async throws {
    try await ObedientPlugin.run(["plug"], settings: "ceiling = \"6s\"\nidle = \"6s\"") { scene in
      let id = try await scene.sendMany(1, try await scene.importedAsset(1), to: "plug")[0]
      _ = try await ObedientPlugin("plug", scene).given(1)
      let clock = ContinuousClock()
      // What it waits for is over then, so it ends long before its thirty seconds.
      let took = await clock.measure {
        let status = await scene.broker.end(SIGTERM)
        #expect(status == .exited(0))
      }
      #expect(took < .seconds(20))
      try await scene.broker.start()
      let handoff = try await scene.handoff(id)
      #expect(handoff["status"]?.text == "expired")
      #expect(!(try scene.broker.wholeLog.contains("Stopping now")))
    }
  }

  @Test("Case 87: a receiver's time stamps are claims and change nothing", .timeLimit(.minutes(2)))
  func foreignTimes() async throws {
    let claims: [JSONValue] = [
      .string("2099-01-01T00:00:00Z"), .string("1970-01-01T00:00:00Z"), .null, .string("soon"),
      .number(1e20),
      .integer(-1), .array([]),
    ]
    try await ObedientPlugin.run(["plug"]) { scene in
      let asset = try await scene.importedAsset(1)
      _ = try await scene.sendMany(claims.count, asset, to: "plug")
      let plugin = try await ObedientPlugin("plug", scene)
      let given = try await plugin.given(claims.count)
      for (index, (claim, given)) in zip(claims, given).enumerated() {
        let more: [String: JSONValue] = [
          "finished_at": claim, "finishedAt": claim, "output": .object(["finished_at": claim]),
        ]
        let result = ObedientPlugin.result(given.token, "success", more)
        #expect(try await plugin.report("t\(index)", result) == "ok", "\(claim)")
        let handoff = try await scene.handoff(given.handoff)
        #expect(handoff["output"]?["finished_at"] == claim)
        let times = ["created_at", "submitted_at", "finished_at"].map { handoff[$0]?.text ?? "" }
        #expect(times == times.sorted() && !times.contains(""), "\(times)")
      }
    }
  }
}
