import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The `file` transport through the real broker.
@Suite("Handoffs into an inbox", .timeLimit(.minutes(3)))
struct InboxTests {
  private static let configuration = Scene.configuration(
    handoff: ["share"],
    destinations: """
      [destination.share]
      transport = "file"
      inbox = "inbox"
      retry = { for = "1h", first = "100ms", max = "200ms" }
      """
  )

  @Test("an export is delivered under its own name, and success says no more than that")
  func delivered() async throws {
    try await Scene.run(Self.configuration) { scene in
      let bytes = try await Scene.video(1)
      try scene.write(bytes, to: "Day 1.mp4")
      try scene.write(try await Scene.video(2), to: "other.mp4")
      let handoffs = try await Self.succeeded(scene, 2)
      let path = scene.broker.root.appending("inbox/Day 1.mp4")
      let output = try #require(
        handoffs.compactMap { $0["output"] }.first {
          $0["path"]?.text == path.lossyText
        }
      )
      #expect(output["delivered"] == .bool(true))
      #expect(handoffs.allSatisfy { $0["origin"]?.text == "verified" })
      #expect(try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24) == bytes)
      #expect(try Self.names(scene).count == 4)
      #expect(try Self.names(scene).allSatisfy { $0.bytes.first != UInt8(ascii: ".") })
    }
  }

  @Test(
    "killed while it copies or places, a broker that starts again delivers once and truthfully",
    arguments: ["inbox.write:2", "inbox.place:1", "inbox.placed:1"]
  )
  func killed(fault: String) async throws {
    try await withTemporaryDirectory { root in
      let broken = try RunningBroker(
        root: root,
        configuration: Self.configuration,
        environment: ["HANDOFF_FAULT=\(fault):kill"]
      )
      try await broken.start()
      let bytes = try await Self.large()
      try Scene(broker: broken).write(bytes, to: "large.mp4")
      let isDead = try await poll(within: .seconds(60)) {
        try await broken.command(["status"]).code == 75 ? true : nil
      }
      #expect(isDead == true, "the fault was never met")
      await broken.end(SIGKILL)
      let broker = try RunningBroker(root: root, configuration: Self.configuration)
      let scene = Scene(broker: broker)
      let wasPlaced = try Self.names(scene).contains("large.mp4")
      #expect(wasPlaced == (fault == "inbox.placed:1"))
      // Its reader takes it away before the broker can look.
      if wasPlaced { try DurableFile.unlink(root.appending("inbox/large.mp4")) }
      try await broker.start()
      let handoffs = try await Self.succeeded(scene, 1)
      #expect(handoffs[0]["attempts"] == .integer(wasPlaced ? 1 : 2))
      let video: [BytePath] = wasPlaced ? [] : ["large.mp4"]
      let swept = try await poll {
        try Self.names(scene) == video + ["large.mp4.handoff-manifest.json"] ? true : nil
      }
      #expect(swept == true)
      await broker.end(SIGTERM)
    }
  }

  @Test("a full disk leaves no part, waits, and goes on by itself")
  func full() async throws {
    try await Scene.run(Self.configuration, starting: false) { scene in
      let inbox = scene.broker.root.appending("inbox")
      try Directory.create(inbox)
      let mount = "mount -t tmpfs -o size=1M none '\(inbox.lossyText)' 2>/dev/null"
      guard await shell(mount) == 0 else { return print("skipped: nothing can be mounted here") }
      do {
        try await scene.broker.start()
        try scene.write(try await Self.large(), to: "large.mp4")
        _ = try await scene.broker.wait("handoffs") { handoffs in
          let error = handoffs.elements.first?["error"]
          return error?["message"]?.text?.contains("no space left") == true
            && error?["effect"]?.text == "none"
        }
        #expect(await shell("mount -o remount,size=64M '\(inbox.lossyText)'") == 0)
        _ = try await Self.succeeded(scene, 1)
        #expect(try Self.names(scene) == ["large.mp4", "large.mp4.handoff-manifest.json"])
      } catch {
        _ = await shell("umount -l '\(inbox.lossyText)'")
        throw error
      }
      await scene.broker.end(SIGTERM)
      _ = await shell("umount -l '\(inbox.lossyText)'")
    }
  }

  @Test("a copy that is cancelled on its way ends with nothing done, and leaves nothing")
  func cancelled() async throws {
    try await Scene.run(Self.configuration, starting: false) { scene in
      let inbox = scene.broker.root.appending("inbox")
      try Directory.create(inbox)
      let place = inbox.lossyText
      let mount =
        "truncate -s 320M '\(place).image' && mkfs.xfs -q '\(place).image' "
        + "&& mount -o loop '\(place).image' '\(place)'"
      guard await shell("(\(mount)) 2>/dev/null") == 0 else {
        return print("skipped: nothing can be mounted here")
      }
      do {
        try await scene.broker.start()
        // From here on who writes there waits.
        #expect(await shell("fsfreeze -f '\(place)'") == 0)
        try scene.write(try await Scene.video(4), to: "held.mp4")
        let handoffs = try await scene.broker.wait("handoffs") {
          $0.elements.first?["status"]?.text == "submitted"
        }
        let id = BytePath(try #require(handoffs.elements.first).text(of: "id"))
        let ended = try await scene.broker.command(["cancel", id])
        #expect(ended.code == 0)
        #expect(!ended.errors.contains("may still happen"))
        let cancelled = try await scene.broker.wait("show", id) {
          $0["status"]?.text == "cancelled"
        }
        #expect(cancelled["error"] == .null)
        #expect(await shell("fsfreeze -u '\(place)'") == 0)
        let isEmpty = try await poll { try Self.names(scene).isEmpty ? true : nil }
        #expect(isEmpty == true)
      } catch {
        _ = await shell("fsfreeze -u '\(place)' 2>/dev/null; umount -l '\(place)'")
        throw error
      }
      await scene.broker.end(SIGTERM)
      _ = await shell("umount -l '\(place)'")
    }
  }

  private static func large() async throws -> [UInt8] {
    let box: [UInt8] = [0, 0x40, 0, 0] + Array("free".utf8)
    return try await Scene.video(3) + box + [UInt8](repeating: 5, count: 0x40_0000 - 8)
  }

  private static func names(_ scene: Scene) throws -> [BytePath] {
    try Directory.entries(of: scene.broker.root.appending("inbox")).map(\.name).sorted()
  }

  private static func succeeded(_ scene: Scene, _ count: Int) async throws -> [JSONValue] {
    try await scene.broker.wait("handoffs") { handoffs in
      handoffs.elements.count == count
        && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
    }.elements
  }
}
