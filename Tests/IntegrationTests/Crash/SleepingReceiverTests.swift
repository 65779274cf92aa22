import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What was in flight when everything was killed.
@Suite("Crashes with receivers at work", .timeLimit(.minutes(2)))
struct SleepingReceiverTests {
  @Test("Case 16: what was in flight ends in one documented state, under the same token")
  func inFlight() async throws {
    try await OutcomePlugin.run(Self.plugins, more: Self.exec) { scene in
      let asset = try await scene.asset(1)
      var ids: [String: BytePath] = [:]
      for (name, standing) in Self.standings {
        let id = try await scene.send(asset, to: name, "probe=\(standing)")
        try await scene.wait(id, until: "accepted")
        ids[name] = id
      }
      let script = try await scene.send(asset, to: "script", "sleeps")
      _ = try await scene.broker.wait("show", script) { $0["submitted_at"]?.text != nil }
      try await Self.killAll(scene)
      let before = try await scene.broker.json("handoffs").elements
      #expect(before.allSatisfy { $0["status"]?.text != "leased" })

      try await scene.broker.start()
      // Documented ends, each by what its receiver can tell.
      try await scene.wait(try #require(ids["done"]), until: "succeeded")
      try await scene.wait(try #require(ids["mute"]), until: "outcome_unknown")
      try await scene.wait(try #require(ids["lost"]), until: "outcome_unknown")
      try await scene.wait(script, until: "outcome_unknown")
      try await Self.sentAgain(scene, try #require(ids["fresh"]))
      try await Self.carriesOn(scene, try #require(ids["working"]))
      let after = try await scene.broker.json("handoffs").elements
      #expect(after.count == 6)
      #expect(after.allSatisfy { $0["status"]?.text != "leased" })
    }
  }

  /// The receiver never had it: it is submitted again, with the token of the first time.
  private static func sentAgain(_ scene: Scene, _ id: BytePath) async throws {
    let fresh = OutcomePlugin(scene: scene, name: "fresh")
    let handoff = try await scene.broker.wait("show", id) { $0["attempts"] == .integer(2) }
    #expect(["submitted", "accepted"].contains(handoff["status"]?.text))
    let submissions = try await poll { () -> [String]? in
      let lines = try fresh.lines("done")
      return lines.count == 2 ? lines : nil
    }
    let tokens = try #require(submissions).compactMap { $0.split(separator: " ").last }
    #expect(Set(tokens).count == 1, "one token over all attempts")
    try await scene.wait(id, until: "accepted")
    try fresh.tell("success")
    try await scene.wait(id, until: "succeeded")
  }

  /// The receiver is at it: its result is accepted once, under the token that it was given before.
  private static func carriesOn(_ scene: Scene, _ id: BytePath) async throws {
    let working = OutcomePlugin(scene: scene, name: "working")
    let open = try await scene.wait(id, until: "accepted")
    #expect(open["attempts"] == .integer(1))
    try working.tell("success")
    try await scene.wait(id, until: "succeeded")
    try working.tell("success")
    let refused = try await scene.broker.wait("history", id) { history in
      history.elements.contains { $0["event"]?.text == "result_refused" }
    }
    let results = refused.elements.filter {
      $0["to"]?.text == "succeeded" && $0["event"]?.text != "result_refused"
    }
    #expect(results.count == 1)
    #expect(try working.lines("done").count == 1)
  }

  /// Kills the broker and every process that it has started.
  private static func killAll(_ scene: Scene) async throws {
    let broker = try #require(scene.broker.processID)
    let children = try childProcesses(of: broker)
    #expect(children.count >= standings.count + 1)
    await scene.broker.end(SIGKILL)
    for child in children { kill(child, SIGKILL) }
  }

  private static let standings = [
    ("done", "done"), ("working", "working"), ("fresh", "not_received"), ("lost", "unknown"),
    ("mute", "working"),
  ]

  private static let plugins = standings.map { name, _ in
    (name, name == "mute" ? "" : "reconcile,probe", "")
  }

  private static let exec = """
    [destination.script]
    transport = "exec"
    command = ["/bin/sh", "-c", "exec sleep 60"]
    containment = "none"
    """
}

/// The processes whose parent a process is; see proc(5), `/proc/PID/stat`.
func childProcesses(of parent: Int32) throws -> [Int32] {
  try Directory.entries(of: "/proc").compactMap { entry -> Int32? in
    guard let id = Int32(entry.name.lossyText) else { return nil }
    // It may have ended since it was listed.
    let file = try? FileDescriptor.open(BytePath("/proc/\(id)/stat"), O_RDONLY)
    let bytes = (try? file?.readAll(limit: 4096)) ?? []
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?
      .split(separator: " ")
    guard let fields, fields.count > 1, Int32(fields[1]) == parent else { return nil }
    return id
  }
}
