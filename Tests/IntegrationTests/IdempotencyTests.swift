import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A sender's key makes its call one that can be made again.
@Suite("Idempotency keys")
struct IdempotencyTests {
  private static let quick = """
    [destination.quick]
    transport = "exec"
    command = ["/bin/true"]
    containment = "none"
    """

  @Test(
    "a lost reply and a second try make one handoff; another body is refused",
    .timeLimit(.minutes(1))
  )
  func lostReply() async throws {
    try await Scene.run(Scene.configuration(destinations: Self.quick)) { scene in
      let asset = try await scene.importedAsset(1)
      let order = ControlLine.order(
        asset,
        to: "quick",
        ["key": .string("k1"), "again": .bool(false)]
      )
      // Cut off as soon as the question is out: nobody reads the answer.
      let first = try ControlLine(scene)
      try first.write(ControlLine.call(1, "send", order))
      try first.close()
      let handoffs = try await scene.broker.wait("handoffs") { $0.elements.count == 1 }
      let id = try handoffs.elements[0].text(of: "id")
      for _ in 0..<3 {
        let again = try ControlLine(scene)
        try again.write(ControlLine.call(1, "send", order))
        #expect(try await again.answers(1)[0].result?["id"]?.text == id)
        try again.close()
      }
      let sent = try await scene.broker.json(
        "send",
        BytePath(asset),
        "--to",
        "quick",
        "--key",
        "k1"
      )
      #expect((sent.elements.first ?? sent)["id"]?.text == id)
      let other = try await scene.broker.command(
        ["send", BytePath(asset), "--to", "quick", "--key", "k1", "--title", "another"]
      )
      #expect(other.code != 0)
      #expect(other.errors.contains("k1") || other.errors.contains("key"), "\(other.errors)")
      #expect(try await scene.broker.json("handoffs").elements.count == 1)
    }
  }

  @Test("50 senders with one key at one instant make one handoff", .timeLimit(.minutes(1)))
  func atOnce() async throws {
    try await Scene.run(Scene.configuration(destinations: Self.quick)) { scene in
      let asset = try await scene.importedAsset(1)
      let order = ControlLine.order(
        asset,
        to: "quick",
        ["key": .string("k1"), "again": .bool(false)]
      )
      let lines = try (0..<50).map { _ in try ControlLine(scene) }
      for line in lines { try line.write(ControlLine.call(1, "send", order)) }
      var ids: Set<String> = []
      for line in lines {
        ids.insert(try await line.answers(1)[0].result?["id"]?.text ?? "refused")
        try line.close()
      }
      #expect(ids.count == 1)
      #expect(try await scene.broker.json("handoffs").elements.count == 1)
      let handoff = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "succeeded"
      }
      #expect(handoff.elements.first?["attempts"]?.integer == 1)
    }
  }

  @Test("a key outlives a broker that was killed after the commit", .timeLimit(.minutes(1)))
  func killed() async throws {
    try await Scene.run(Scene.configuration(destinations: Self.quick)) { scene in
      let asset = try await scene.importedAsset(1)
      let order = ControlLine.order(
        asset,
        to: "quick",
        ["key": .string("k1"), "again": .bool(false)]
      )
      let line = try ControlLine(scene)
      try line.write(ControlLine.call(1, "send", order))
      _ = try await scene.broker.wait("handoffs") { $0.elements.count == 1 }
      await scene.broker.end(SIGKILL)
      try line.close()
      try await scene.broker.start()
      let again = try ControlLine(scene)
      try again.write(ControlLine.call(1, "send", order))
      #expect(try await again.answers(1)[0].result != nil)
      try again.close()
      #expect(try await scene.broker.json("handoffs").elements.count == 1)
    }
  }
}
