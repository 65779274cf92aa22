import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a pending handoff waits for, and what a person can do, on a running broker.
@Suite("Waiting", .timeLimit(.minutes(2)))
struct WaitingTests {
  private static func exec(_ name: String, _ more: String = "", script: String = "exit 0") -> String
  {
    """
    [destination.\(name)]
    transport = "exec"
    command = ["/bin/sh", "-c", "\(script)"]
    containment = "none"
    \(more)
    """
  }

  private func why(_ scene: Scene, _ id: BytePath) async throws -> String {
    let ended = try await scene.broker.command(["why", id])
    #expect(ended.code == 0)
    return String(decoding: ended.output, as: UTF8.self)
  }

  @Test("approval: nothing goes before a person says so, and exactly what was seen goes")
  func approval() async throws {
    let configuration = Scene.configuration(
      handoff: ["social"],
      destinations: Self.exec(
        "social",
        "approval = true",
        script: "cp $HANDOFF_ASSET_1 $HANDOFF_WORK"
      )
    )
    try await Scene.run(configuration) { scene in
      let broker = scene.broker
      try scene.write(try await Scene.video(1), to: "cut\\1.mp4")
      let listed = try await broker.wait("handoffs") { $0.elements.count == 1 }
      #expect(listed.elements[0]["waiting"]?["reason"]?.text == "approval")
      let shown = try await broker.json("show", "h1")
      let digest = try #require(shown["approval"]?["digest"]?.text)
      let person = try await broker.json("status")["needs_person"]?.elements.first
      #expect(person?["id"]?.text == "h1")
      #expect(
        try await why(scene, "h1").contains("handoff approve h1 --expect \(digest.prefix(16))")
      )

      let wrong = try await broker.command(["approve", "h1", "--expect", "0000000000000000"])
      #expect(wrong.code == 4)
      #expect(wrong.errors.contains("not what was seen"))
      let unknown = try await broker.command(["approve", "h9\u{1B}[31m"])
      #expect(unknown.code == 3)
      #expect(unknown.errors.contains("h9\\x1b[31m"))
      let done = try await broker.command(["approve", "h1", "--expect", BytePath(digest)])
      #expect(done.code == 0)
      let words = String(decoding: done.output, as: UTF8.self)
      for part in ["cut", "social", "cut\\\\1.mp4", String(digest.prefix(16))] {
        #expect(words.contains(part), "\(words)")
      }
      _ = try await broker.wait("show", "h1") { $0["status"]?.text == "succeeded" }
      // Words that do not belong together do nothing, whatever the handoff is like.
      #expect(try await broker.command(["approve", "h1", "--expect", "abc"]).code == 2)
      #expect(try await broker.command(["retry", "h1", "--dry-run"]).code == 2)
      #expect(try await broker.command(["retry", "h1", "--destination", "social"]).code == 2)
      let late = try await broker.command(["approve", "h1"])
      #expect(late.code == 4)
      #expect(late.errors.contains("it is succeeded"))
      let history = try await broker.json("history", "h1")
      #expect("\(history)".contains("approved"))

      // Made again it needs its own; `--wait` says that a person is needed.
      let identifier = try #require(listed.elements[0]["local_identifiers"]?.elements[0].text)
      let again = try await broker.command([
        "send", BytePath(identifier), "--to", "social", "--again", "--wait",
      ])
      #expect(again.code == 5)
      let dry = try await broker.json(
        "send",
        BytePath(identifier),
        "--to",
        "social",
        "--again",
        "--dry-run"
      )
      #expect(dry.elements[0]["waiting"]?["reason"]?.text == "approval")
    }
  }

  @Test("approval that is turned on holds what was not sent; turned off it lets all go")
  func rules() async throws {
    let open = Scene.configuration(handoff: ["social"], destinations: Self.exec("social"))
    let closed = open + "\napproval = true\n"
    try await Scene.run(open) { scene in
      let broker = scene.broker
      _ = try await broker.json("pause", "social")
      try scene.write(try await Scene.video(2), to: "cut.mp4")
      _ = try await broker.wait("handoffs") { $0.elements.count == 1 }
      await broker.end(SIGTERM)
      try DurableFile.write(Array(closed.utf8), to: broker.config)
      try await broker.start()
      _ = try await broker.json("resume", "social")
      #expect(try await broker.json("show", "h1")["waiting"]?["reason"]?.text == "approval")
      await broker.end(SIGTERM)
      try DurableFile.write(Array(open.utf8), to: broker.config)
      try await broker.start()
      _ = try await broker.wait("show", "h1") { $0["status"]?.text == "succeeded" }
    }
  }

  @Test("pause: over a restart nothing goes there, others go on, and all faces say so")
  func pause() async throws {
    let configuration = Scene.configuration(
      handoff: ["social", "other"],
      destinations: Self.exec("social") + "\n" + Self.exec("other")
    )
    try await Scene.run(configuration) { scene in
      let broker = scene.broker
      #expect(try await broker.command(["pause", "nowhere"]).code == 3)
      for wasPaused in [false, true] {
        let report = try await broker.json("pause", "social")
        #expect(report["paused"] == .bool(true))
        #expect(report["was_paused"] == .bool(wasPaused))
      }
      try scene.write(try await Scene.video(3), to: "cut.mp4")
      _ = try await broker.wait("handoffs") { handoffs in
        handoffs.elements.contains { $0["status"]?.text == "succeeded" }
      }
      for round in 0..<2 {
        let handoffs = try await broker.json("handoffs", "--destination", "social")
        #expect(handoffs.elements.map { $0["waiting"]?["reason"]?.text } == ["paused"])
        let status = try await broker.json("status")["destinations"]?.elements ?? []
        #expect(Set(status.map { $0["status"]?.text }) == ["paused", "up"])
        let id = try #require(handoffs.elements[0]["id"]?.text)
        #expect(try await why(scene, BytePath(id)).contains("handoff resume social"))
        guard round == 0 else { break }
        await broker.end(SIGTERM)
        // Also without a broker.
        let read = try await broker.json("handoffs", "--destination", "social")
        #expect(read.elements.map { $0["waiting"]?["reason"]?.text } == ["paused"])
        #expect(try await why(scene, BytePath(id)).contains("no broker runs"))
        try await broker.start()
      }
      #expect(try await broker.json("resume", "social")["resumed"] == .bool(true))
      #expect(try await broker.json("resume", "social")["resumed"] == .bool(false))
      _ = try await broker.wait("handoffs", "--destination", "social") {
        $0.elements[0]["status"]?.text == "succeeded"
      }
    }
  }

  @Test("quota and slot: what is over the number waits with its moment, over a restart too")
  func quota() async throws {
    let configuration = Scene.configuration(
      handoff: ["social", "slow"],
      destinations: Self.exec("social", "quota = \"2/1h\"") + "\n"
        + Self.exec("slow", "concurrency = 1", script: "sleep 3")
    )
    try await Scene.run(configuration) { scene in
      let broker = scene.broker
      for number in 0..<4 {
        try scene.write(
          try await Scene.video(10 + UInt64(number)),
          to: BytePath("cut\(number).mp4")
        )
      }
      func social() async throws -> [String?] {
        let handoffs = try await broker.json("handoffs", "--destination", "social")
        return handoffs.elements.map { $0["waiting"]?["reason"]?.text ?? $0["status"]?.text }
      }
      _ = try await broker.wait("handoffs") { handoffs in
        let ended = handoffs.elements.filter {
          $0["destination"]?.text == "social" && $0["status"]?.text == "succeeded"
        }
        return handoffs.elements.count == 8 && ended.count == 2
      }
      let slow = try await broker.json("handoffs", "--destination", "slow", "--status", "pending")
      #expect(slow.elements.allSatisfy { $0["waiting"]?["reason"]?.text == "slot" }, "\(slow)")
      let waiting = try await broker.json(
        "handoffs",
        "--destination",
        "social",
        "--status",
        "pending"
      )
      #expect(waiting.elements.count == 2)
      for handoff in waiting.elements {
        #expect(handoff["waiting"]?["reason"]?.text == "quota")
        #expect(handoff["waiting"]?["until"]?.text != nil)
      }
      let id = try #require(waiting.elements[0]["id"]?.text)
      #expect(try await why(scene, BytePath(id)).contains("has a place again at"))
      await broker.end(SIGKILL)
      try await broker.start()
      #expect(
        try await social().sorted { $0 ?? "" < $1 ?? "" } == [
          "quota", "quota", "succeeded", "succeeded",
        ]
      )
    }
  }

  @Test("a dead service is left alone: one handoff at a time, until it is back")
  func circuit() async throws {
    let configuration = Scene.configuration(
      handoff: ["dead"],
      destinations: """
        [destination.dead]
        transport = "exec"
        command = ["./dead.sh"]
        containment = "none"
        concurrency = 4
        retry = { for = "1h", first = "1ms", max = "1ms" }
        """
    )
    try await Scene.run(configuration, starting: false) { scene in
      _ = try scene.script(
        "dead",
        #"""
        test -e $HANDOFF_WORK/back && exit 0
        echo x >> $HANDOFF_WORK/calls
        state=$(sed 's/.*"state":"\([^"]*\)".*/\1/')
        error='{"code":"network","message":"no route","effect":"none","retry":"later"}'
        echo '{"protocol_version":3,"state":"'$state'","result":"failure","error":'$error'}'
        """#
      )
      try await scene.broker.start()
      let broker = scene.broker
      for number in 0..<6 {
        try scene.write(
          try await Scene.video(30 + UInt64(number)),
          to: BytePath("cut\(number).mp4")
        )
      }
      let open = try await broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 6
          && handoffs.elements.contains { $0["waiting"]?["reason"]?.text == "circuit_open" }
      }
      #expect(open.elements.contains { $0["waiting"]?["until"]?.text != nil })
      let status = try await broker.json("status")["destinations"]?.elements ?? []
      #expect(status.map { $0["status"]?.text } == ["circuit_open"])
      let work = broker.root.appending("state/work/dead")
      let calls = try FileDescriptor.open(work.appending("calls"), O_RDONLY).readAll(limit: 1 << 20)
      // Without the rest there would be thousands.
      #expect(calls.count / 2 < 40)
      try DurableFile.write([], to: work.appending("back"))
      _ = try await broker.wait("handoffs") { handoffs in
        handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
    }
  }

  @Test("publish_at without an offset is in the host's zone, over a change of clocks, and echoed")
  func publishAt() async throws {
    try await withTemporaryDirectory { root in
      let zone = "TZ=CET-1CEST,M3.5.0,M10.5.0/3"
      let broker = try RunningBroker(
        root: root,
        configuration: Scene.configuration(destinations: Self.exec("social")),
        environment: [zone]
      )
      try await broker.start()
      let file = root.appending("cut.mp4")
      try DurableFile.write(try await Scene.video(50), to: file)
      func send(_ moment: BytePath) async throws -> JSONValue {
        let sent = try await broker.json(
          "send",
          file,
          "--to",
          "social",
          "--again",
          "--publish-at",
          moment
        )
        return sent.elements[0]
      }
      // The night on which clocks are put forward: half past one is still winter time.
      let before = try await send("2035-03-25T01:30:00")
      #expect(before["waiting"]?["reason"]?.text == "publish_at")
      #expect(before["waiting"]?["until"]?.text == "2035-03-25T00:30:00.000Z")
      #expect(before["publish_at_local"]?.text == "2035-03-25T01:30:00.000+01:00")
      let after = try await send("2035-03-25T03:30:00")
      #expect(after["publish_at"]?.text == "2035-03-25T01:30:00.000Z")
      let id = try #require(after["id"]?.text)
      let shown = try await broker.json("show", BytePath(id))
      #expect(shown["publish_at_local"]?.text == "2035-03-25T03:30:00.000+02:00")
      await broker.end(SIGKILL)
    }
  }
}
