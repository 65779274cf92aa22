import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// SIGTERM in the middle of everything.
@Suite("Stopping in the middle of work", .timeLimit(.minutes(3)))
struct StopCaseTests {
  @Test("Case 98: stopped amid a copy, two receivers and a quiet time, the next start carries on")
  func amid() async throws {
    try await Self.run { scene in
      let children = try await Self.busy(scene)
      try scene.broker.signal(SIGTERM)
      try await Self.untilStopping(scene)
      // Work that may end does so within the drain time; a second signal ends what does not.
      let quick = scene.broker.root.appending("state/work/quick/done")
      _ = try #require(try await poll { try FileStatus.of(quick) })
      #expect(await scene.broker.end(SIGTERM) == .exited(0))
      for child in children {
        #expect(kill(child, 0) != 0, "process \(child) outlived the broker")
      }
      try await Self.carriedOn(scene)
    }
  }

  @Test(
    "Case 98: without a second signal what does not end is ended when the drain time is over",
    .enabled(if: LongTests.isLong)
  )
  func drainTime() async throws {
    try await Self.run { scene in
      let children = try await Self.busy(scene)
      let clock = ContinuousClock()
      let start = clock.now
      #expect(await scene.broker.end(SIGTERM) == .exited(0))
      // 30 s to drain, 5 s from a receiver's SIGTERM to its SIGKILL; systemd's own limit is 90 s.
      #expect(clock.now - start < .seconds(60))
      for child in children { #expect(kill(child, 0) != 0) }
      try await Self.carriedOn(scene)
    }
  }

  private static func run(_ body: nonisolated(nonsending) (Scene) async throws -> Void) async throws
  {
    try await OutcomePlugin.run(
      [("plug", "reconcile,probe", "")],
      more: destinations,
      body
    )
  }

  /// Two scripts and a plugin are at work, a large file is copied, and one is in its quiet time.
  ///
  /// - Returns: the broker's child processes.
  private static func busy(_ scene: Scene) async throws -> [Int32] {
    let asset = try await scene.asset(1)
    for name in ["plug", "quick", "stubborn"] {
      let id = try await scene.send(asset, to: name, "probe=working")
      _ = try await scene.broker.wait("show", id) { $0["submitted_at"]?.text != nil }
    }
    let begun = scene.broker.root.appending("state/work/stubborn/begun")
    _ = try #require(try await poll { try FileStatus.of(begun) })
    let children = try childProcesses(of: try #require(scene.broker.processID))
    #expect(children.count >= 3)
    let staging = scene.broker.root.appending("library/staging")
    try scene.write(try await large(), to: "large.mp4")
    let isCopying = try await poll(within: .seconds(20), every: .milliseconds(1)) {
      try Directory.entries(of: staging).isEmpty ? nil : true
    }
    #expect(isCopying == true)
    try scene.write(try await Scene.video(3), to: "quiet.mp4")
    return children
  }

  private static func untilStopping(_ scene: Scene) async throws {
    let said = try await poll { try scene.broker.wholeLog.contains("Stopping:") ? true : nil }
    #expect(said == true)
  }

  /// Nothing is lost and nothing doubled.
  private static func carriedOn(_ scene: Scene) async throws {
    let between = try await scene.broker.json("handoffs").elements
    #expect(between.allSatisfy { $0["status"]?.text != "leased" })
    try await scene.broker.start()
    let assets = try await scene.broker.wait("assets") { $0.elements.count == 3 }
    #expect(Set(assets.elements.compactMap { $0["sha256"]?.text }).count == 3)
    let handoffs = try await scene.broker.wait("handoffs") { handoffs in
      handoffs.elements.allSatisfy { $0["status"]?.text != "submitted" }
    }
    var statuses: [String: String] = [:]
    for handoff in handoffs.elements {
      statuses[try handoff.text(of: "destination")] = handoff["status"]?.text
    }
    #expect(
      statuses == ["plug": "accepted", "quick": "succeeded", "stubborn": "outcome_unknown"]
    )
    let plug = OutcomePlugin(scene: scene, name: "plug")
    #expect(try plug.lines("done").count == 1, "asked, not sent again")
    #expect(try Directory.entries(of: scene.broker.root.appending("library/staging")).isEmpty)
    #expect(try await scene.broker.command(["fsck"]).code == 0)
  }

  /// A whole MP4 with a large `free` box behind it.
  private static func large() async throws -> [UInt8] {
    var random = SeededGenerator(seed: 98)
    let size = 48 << 20
    let length = withUnsafeBytes(of: UInt32(size).bigEndian) { Array($0) }
    return try await Scene.video(2) + length + Array("free".utf8) + random.bytes(size - 8)
  }

  private static let destinations = """
    [destination.quick]
    transport = "exec"
    command = ["/bin/sh", "-c", "sleep 1; : > $HANDOFF_WORK/done"]
    containment = "none"
    [destination.stubborn]
    transport = "exec"
    command = ["/bin/sh", "-c", "trap '' TERM; : > $HANDOFF_WORK/begun; while :; do sleep 1; done"]
    containment = "none"
    """
}
