import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// How a broker stops, and that only one runs (CASES 97, 98).
@Suite("Stopping")
struct StopTests {
  @Test("SIGTERM drains: what runs may end, and the exit code is 0", .timeLimit(.minutes(1)))
  func drain() async throws {
    try await Scene.run(Self.configuration) { scene in
      let begun = scene.broker.root.appending("state/work/slow/begun")
      let path = scene.exports.appending("cut.mp4")
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "imported" }
      _ = try await scene.broker.wait("status") { _ in (try? FileStatus.of(begun)) != nil }
      #expect(await scene.broker.end(SIGTERM) == .exited(0))
      let handoffs = try await scene.broker.json("handoffs")
      #expect(handoffs.elements.map { $0["status"]?.text } == ["succeeded"])
    }
  }

  @Test("a second broker on the same state folder ends with a sentence", .timeLimit(.minutes(1)))
  func second() async throws {
    try await Scene.run(Self.configuration) { scene in
      let second = try await scene.broker.command(["serve"])
      #expect(second.code == 75)
      #expect(second.errors.contains("another broker runs"))
      #expect(try await scene.broker.json("status")["version"]?.text != nil)
    }
  }

  @Test(
    "a broker that cannot watch ends with a sentence and is never ready",
    .timeLimit(.minutes(1))
  )
  func cannotWatch() async throws {
    try await Scene.run(Self.configuration, starting: false) { scene in
      let state = scene.broker.root.appending("state")
      try Directory.create(state)
      try DurableFile.write([], to: state.appending("watch"))
      let ended = try await scene.broker.command(["serve"])
      #expect(ended.code == 1)
      #expect(ended.errors.contains("watch"))
      #expect(!String(decoding: ended.output, as: UTF8.self).contains("ready"))
    }
  }

  @Test("a command that needs the broker says that it is not running", .timeLimit(.minutes(1)))
  func notRunning() async throws {
    try await Scene.run(Self.configuration, starting: false) { scene in
      let ended = try await scene.broker.command(["status"])
      #expect(ended.code == 75)
      #expect(ended.errors.contains("not running"))
      #expect(try await scene.broker.json("assets").elements.isEmpty)
    }
  }

  private static let configuration = Scene.configuration(
    handoff: ["slow"],
    destinations: """
      [destination.slow]
      transport = "exec"
      command = ["/bin/sh", "-c", ": > $HANDOFF_WORK/begun; sleep 2"]
      containment = "none"
      """
  )
}
