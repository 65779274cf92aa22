import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The cases of CASES.md about results that come late, and clocks that are set.
@Suite("Cases: outcomes")
struct OutcomeCases {
  @Test("42: a result after the timeout is kept apart and changes nothing", .timeLimit(.minutes(2)))
  func lateResult() async throws {
    try await OutcomePlugin.run([("plug", "", "")]) { scene in
      let id = try await scene.send(
        try await scene.asset(1),
        to: "plug",
        "late 1.0",
        "--expires-in",
        "3s"
      )
      let late = try await scene.broker.wait("show", id) { $0["late_results"] == .integer(1) }
      #expect(late["status"]?.text == "expired")
      #expect(late["output"] == .object([:]))
      let kept = try #require(late["late_result_list"]?.elements.first)
      #expect(kept["output"]?["url"]?.text == "late")
      let arrival = try #require(Timestamp(rfc3339: try kept.text(of: "at")))
      let end = try #require(Timestamp(rfc3339: try late.text(of: "expires_at")))
      #expect(arrival >= end)
      let events = try await scene.broker.json("history", id).elements
        .compactMap { $0["event"]?.text }
      #expect(events.filter { $0 == "result_refused" }.count == 1)
      #expect(events.last == "result_refused")
    }
  }

  @Test("42: at the timeout exactly one outcome is recorded, 200 times", .timeLimit(.minutes(4)))
  func edge() async throws {
    try await OutcomePlugin.run([("plug", "", "concurrency = 200")]) { scene in
      let asset = try await scene.asset(1)
      for number in 0..<200 {
        let shift = Double(number % 41 - 20) / 1000
        _ = try await scene.send(asset, to: "plug", "late \(shift)", "--expires-in", "3s")
      }
      func isDecided(_ handoff: JSONValue) -> Bool {
        handoff["status"]?.text == "succeeded" || handoff["late_results"] == .integer(1)
      }
      let ended = try await poll(within: .seconds(60)) {
        let handoffs = try await scene.broker.json("handoffs").elements
        return handoffs.allSatisfy(isDecided) ? handoffs : nil
      }
      let open = try await scene.broker.json("handoffs").elements.filter { !isDecided($0) }
      let handoffs = try #require(ended, "not decided: \(open.prefix(2))")
      #expect(handoffs.count == 200)
      for handoff in handoffs {
        let isLate = handoff["late_results"] == .integer(1)
        #expect(handoff["status"]?.text == (isLate ? "expired" : "succeeded"))
        #expect((handoff["output"]?["url"]?.text == "late") == !isLate)
      }
    }
  }

  @Test("43: a timeout after the work was done publishes nothing twice", .timeLimit(.minutes(2)))
  func timeout() async throws {
    try await OutcomePlugin.run([("plug", "", "idle = \"1s\"")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "nothing")
      let unknown = try await scene.wait(id, until: "outcome_unknown")
      #expect(unknown["error"]?["effect"]?.text == "unknown")
      // Another one goes through its whole life after it, a restart comes, and still nothing is sent.
      let other = try await scene.send(try await scene.asset(2), to: "plug", "now")
      try await scene.wait(other, until: "succeeded")
      await scene.broker.end(SIGKILL)
      try await scene.broker.start()
      let last = try await scene.send(try await scene.asset(3), to: "plug", "now")
      try await scene.wait(last, until: "succeeded")
      #expect(try plug.lines("done").count { $0.hasPrefix("\(id) ") } == 1)
      let held = try await scene.broker.json("show", id)
      #expect(held["status"]?.text == "outcome_unknown")
      #expect(held["attempts"] == .integer(1))
      let listed = try await scene.broker.json("status")["needs_person"]
      #expect(listed?.elements.map { $0["id"]?.text } == [id.exactText])
    }
  }

  @Test(
    "43: where the probe says that nothing happened, the retry has the same token",
    .timeLimit(.minutes(2))
  )
  func probed() async throws {
    try await OutcomePlugin.run([("plug", "probe", "idle = \"1s\"")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "probe=not_received")
      _ = try await scene.broker.wait("show", id) { _ in
        (try? plug.lines("done").count) == 2
      }
      try plug.tell("success")
      try await scene.wait(id, until: "succeeded")
      let done = try plug.lines("done").map { $0.split(separator: " ") }
      #expect(done.map { $0[1] } == ["1", "2"])
      #expect(Set(done.map { $0[2] }).count == 1)
    }
  }

  @Test(
    "86: the wall clock is set while a handoff is open",
    .timeLimit(.minutes(2)),
    arguments: [(3600, false), (-3600, false), (3600, true), (-3600, true)]
  )
  func clock(step: Int, restarts: Bool) async throws {
    try await withTemporaryDirectory { root in
      let library = try await shiftedClock(in: root)
      let clock = root.appending("clock")
      try DurableFile.write(Array("0\n".utf8), to: clock)
      let text = try OutcomePlugin.configuration(
        [("plug", "reconcile,probe", "idle = \"2s\"\nceiling = \"8s\"")],
        in: root
      )
      let prefix = ["/usr/bin/env", "LD_PRELOAD=\(library)", "SHIFTED_CLOCK=\(clock)"]
      let scene = Scene(
        broker: try RunningBroker(
          root: root,
          configuration: text,
          prefix: prefix.map { BytePath($0) }
        )
      )
      try await scene.broker.start()
      do {
        try await walk(scene, clock, step, restarts)
      } catch {
        await scene.broker.end(SIGKILL)
        throw error
      }
      await scene.broker.end(SIGKILL)
    }
  }

  /// Compiles the library that shifts the wall clock, and returns its path.
  ///
  /// libfaketime is no use here: it also shifts the deadlines of timerfd_settime(2) on clocks that it
  /// leaves alone, so that a step back stops every timer.
  private func shiftedClock(in root: BytePath) async throws -> BytePath {
    let library = root.appending("shifted-clock.so")
    let source = BytePath(#filePath).parent.parent.parent
      .appending("Fixtures/ShiftedClock/ShiftedClock.c")
    var command = ProcessCommand(
      "/usr/bin/env",
      arguments: ["clang", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source],
      environment: [BytePath("PATH=\(environmentValue("PATH") ?? "/usr/bin")")]
    )
    let log = root.appending("clang.log")
    command.descriptors[2] = try FileDescriptor.open(log, O_WRONLY | O_CREAT)
    let ended = try await SpawnedProcess.spawn(command).exit()
    let said = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1 << 20)
    try #require(ended == .exited(0), "clang: \(String(decoding: said, as: UTF8.self))")
    return library
  }

  private func walk(
    _ scene: Scene,
    _ clock: BytePath,
    _ step: Int,
    _ restarts: Bool
  ) async throws {
    let plug = OutcomePlugin(scene: scene, name: "plug")
    let id = try await scene.send(try await scene.asset(1), to: "plug", "probe=working")
    let accepted = try await scene.wait(id, until: "accepted")
    let start = try #require(Timestamp(rfc3339: try accepted.text(of: "submitted_at")))
    try DurableFile.write(Array("\(step)\n".utf8), to: clock)
    if restarts {
      await scene.broker.end(SIGKILL)
      try await scene.broker.start()
    }
    // The quiet time is not touched either: an export is imported as ever.
    try scene.write(try await Scene.video(7), to: "after.mp4")
    _ = try await scene.broker.wait("why", scene.exports.appending("after.mp4")) {
      $0["state"]?.text == "imported"
    }
    if step > 0 {
      #expect(try await scene.broker.json("show", id)["status"]?.text == "accepted")
      try plug.tell("success")
      let done = try await scene.wait(id, until: "succeeded")
      // The broker's own clock is the one that was set.
      let end = try #require(Timestamp(rfc3339: try done.text(of: "finished_at")))
      #expect(end.since(start) > .seconds(3500))
    } else {
      let expired = try await scene.wait(id, until: "expired")
      let end = try #require(Timestamp(rfc3339: try expired.text(of: "finished_at")))
      #expect(end < start)
      try plug.tell("success")
      _ = try await scene.broker.wait("show", id) { $0["late_results"] == .integer(1) }
    }
  }
}
