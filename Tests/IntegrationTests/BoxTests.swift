import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The check box beside an export, and the receipt.
@Suite("The check box")
struct BoxTests {
  /// What the receiver behind the box does, and what the receipt has to say.
  struct Ending: Sendable, CustomTestStringConvertible {
    let exit: Int
    let state: String
    let isTicked: Bool

    var testDescription: String { state }
  }

  @Test(
    "a result marks the receipt: success published, cancelling reverts the box, failure is told",
    .timeLimit(.minutes(1)),
    arguments: [
      Ending(exit: 0, state: "published", isTicked: true),
      Ending(exit: 77, state: "cancelled", isTicked: false),
      Ending(exit: 3, state: "outcome_unknown", isTicked: true),
    ]
  )
  func receipt(_ ending: Ending) async throws {
    try await withBox(exit: ending.exit) { scene in
      try Self.tick(scene, "cut.mp4")
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      let receipt = try await Self.receipt(scene, "cut.mp4", social: ending.state)
      #expect(receipt["sync_publish"] == .bool(ending.isTicked))
      #expect(receipt["destinations"]?["keep"]?["state"]?.text == "done")
    }
  }

  @Test("without a box nothing is published and no receipt is written", .timeLimit(.minutes(1)))
  func noBox() async throws {
    try await withBox(exit: 0) { scene in
      try scene.write(try await Scene.video(2), to: "plain.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.contains { $0["status"]?.text == "succeeded" }
      }
      let handoffs = try await scene.broker.json("handoffs")
      #expect(handoffs.elements.map { $0["destination"]?.text } == ["keep"])
      #expect(try FileStatus.of(scene.exports.appending("plain.mp4.handoff.json")) == nil)
    }
  }

  @Test(
    "a box counts once: a re-export beside the old sidecar is not published",
    .timeLimit(.minutes(1))
  )
  func once() async throws {
    try await withBox(exit: 0) { scene in
      try Self.tick(scene, "cut.mp4")
      try scene.write(try await Scene.video(3), to: "cut.mp4")
      _ = try await Self.receipt(scene, "cut.mp4", social: "published")
      try scene.write(try await Scene.video(4), to: "cut.mp4")
      let handoffs = try await scene.broker.wait("handoffs") { $0.elements.count >= 3 }
      #expect(handoffs.elements.count { $0["destination"]?.text == "social" } == 1)
    }
  }

  @Test("an invalid sidecar holds its export with the reason", .timeLimit(.minutes(1)))
  func invalid() async throws {
    try await withBox(exit: 0) { scene in
      let sidecar = scene.exports.appending("cut.mp4.handoff.toml")
      try DurableFile.write(Array("sync_publisch = true\n".utf8), to: sidecar)
      try scene.write(try await Scene.video(5), to: "cut.mp4")
      let path = scene.exports.appending("cut.mp4")
      let why = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_sidecar" }
      #expect(why["reason"]?.text?.contains("sync_publish") == true)
      try DurableFile.write(Array("sync_publish = true\n".utf8), to: sidecar)
      _ = try await Self.receipt(scene, "cut.mp4", social: "published")
    }
  }

  @Test(
    "a sidecar that is a symbolic link, or still empty, holds its export with the reason",
    .timeLimit(.minutes(1))
  )
  func unfitSidecars() async throws {
    try await withBox(exit: 0) { scene in
      let link = scene.exports.appending("link.mp4.handoff.toml")
      try checked("symlink", link) { symlink("elsewhere.toml", link.nulTerminated) }
      let empty = scene.exports.appending("empty.mp4.handoff.toml")
      try DurableFile.write([], to: empty)
      try scene.write(try await Scene.video(25), to: "link.mp4")
      try scene.write(try await Scene.video(26), to: "empty.mp4")
      for (name, word) in [("link.mp4", "a symbolic link"), ("empty.mp4", "empty")] {
        let why = try await scene.broker.wait("why", scene.exports.appending(BytePath(name))) {
          $0["state"]?.text == "waiting_sidecar"
        }
        #expect(why["reason"]?.text?.contains("invalid") == true)
        #expect(why["reason"]?.text?.contains(word) == true)
      }
      try Self.tick(scene, "empty.mp4")
      _ = try await Self.receipt(scene, "empty.mp4", social: "published")
      // In its place in one step: without a sidecar for a moment, the export would go its way.
      try Self.tick(scene, "link.mp4")
      _ = try await Self.receipt(scene, "link.mp4", social: "published")
    }
  }

  @Test(
    "what was there when its folder was first seen is imported, but never published",
    .timeLimit(.minutes(1))
  )
  func firstSight() async throws {
    try await withBox(exit: 0, starting: false) { scene in
      try Self.tick(scene, "old.mp4")
      try scene.write(try await Scene.video(6), to: "old.mp4")
      try await scene.broker.start()
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.contains { $0["status"]?.text == "succeeded" }
      }
      try Self.tick(scene, "new.mp4")
      try scene.write(try await Scene.video(7), to: "new.mp4")
      _ = try await Self.receipt(scene, "new.mp4", social: "published")
      let handoffs = try await scene.broker.json("handoffs")
      #expect(handoffs.elements.count { $0["destination"]?.text == "keep" } == 2)
      #expect(handoffs.elements.count { $0["destination"]?.text == "social" } == 1)
    }
  }

  @Test(
    "what a box said no to stays unpublished when the mode of its export changes",
    .timeLimit(.minutes(1)),
    arguments: ["sync_publish = false", "handoff = []"]
  )
  func deniedThenChanged(_ box: String) async throws {
    let rule = "sync_publish_to = [\"slow\"]\npublish_by_default = true"
    let text = Scene.configuration(
      folder: rule,
      handoff: ["quick"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      let path = scene.exports.appending("cut.mp4")
      let sidecar = path.addingSuffix(".handoff.toml")
      try DurableFile.write(Array("\(box)\n".utf8), to: sidecar, permissions: 0o644)
      let bytes = try await Scene.video(11)
      try scene.write(bytes, to: "cut.mp4")
      let identifier = try await scene.identifier(of: "cut.mp4")
      let before = try await scene.broker.json("handoffs").elements.count
      #expect(await shell("chmod g+w '\(path.lossyText)'") == 0)
      try scene.write(try await Scene.video(12), to: "after.mp4")
      _ = try await scene.identifier(of: "after.mp4")
      #expect(try await scene.identifier(of: "cut.mp4") == identifier)
      #expect(try await scene.handoffs(of: identifier, to: "slow").isEmpty)
      await scene.broker.end(SIGTERM)
      #expect(await shell("chmod g-w '\(path.lossyText)'") == 0)
      try await scene.broker.start()
      try scene.write(try await Scene.video(13), to: "later.mp4")
      _ = try await scene.identifier(of: "later.mp4")
      #expect(try await scene.identifier(of: "cut.mp4") == identifier)
      #expect(try await scene.handoffs(of: identifier, to: "slow").isEmpty)
      #expect(try await scene.handoffs(of: identifier, to: "quick").count == before)
    }
  }

  @Test(
    "what was there is not published because its mode or name changes, also where it was ignored",
    .timeLimit(.minutes(1)),
    arguments: ["import", "ignore"]
  )
  func oldAndChanged(_ existing: String) async throws {
    let rule = """
      sync_publish_to = ["slow"]
      publish_by_default = true
      existing = "\(existing)"
      """
    let text = Scene.configuration(folder: rule, handoff: ["quick"], destinations: Scene.held)
    try await Scene.run(text, starting: false) { scene in
      for (number, name) in [(UInt64(21), "mode.mp4"), (22, "name.mp4")] {
        try scene.write(try await Scene.video(number), to: BytePath(name))
      }
      try await scene.broker.start()
      let state = existing == "import" ? "imported" : "ignored"
      for name in ["mode.mp4", "name.mp4"] {
        _ = try await scene.broker.wait("why", scene.exports.appending(name)) {
          $0["state"]?.text == state
        }
      }
      let mode = scene.exports.appending("mode.mp4")
      #expect(await shell("chmod g+w '\(mode.lossyText)'") == 0)
      try DurableFile.rename(
        scene.exports.appending("name.mp4"),
        to: scene.exports.appending("renamed.mp4")
      )
      let renamed = try await scene.identifier(of: "renamed.mp4")
      #expect(try await scene.handoffs(of: renamed, to: "slow").isEmpty)
      let changed = try await scene.identifier(of: "mode.mp4")
      #expect(try await scene.handoffs(of: changed, to: "slow").isEmpty)
      try scene.write(try await Scene.video(23), to: "new.mp4")
      let new = try await scene.identifier(of: "new.mp4")
      #expect(try await scene.handoffs(of: new, to: "slow").count == 1)
    }
  }

  @Test("no receipt tells of content that its path does not hold any more", .timeLimit(.minutes(1)))
  func superseded() async throws {
    try await withBox(command: "cat $HANDOFF_WORK/gate") { scene in
      let gate = scene.broker.root.appending("state/work/social/gate")
      try checked("mkfifo", gate) { mkfifo(gate.nulTerminated, 0o600) }
      try Self.tick(scene, "cut.mp4")
      try scene.write(try await Scene.video(9), to: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.contains { $0["destination"]?.text == "social" }
      }
      try scene.write(try await Scene.video(10), to: "cut.mp4")
      _ = try await scene.broker.wait("assets") { $0.elements.count == 2 }
      // The first version is published only now, when its path holds the second.
      let opened = try await BlockingThread("gate").run { () throws(SystemError) in
        try FileDescriptor.open(gate, O_WRONLY)
      }
      try opened.close()
      let handoffs = try await scene.broker.wait("handoffs") {
        $0.elements.contains {
          $0["destination"]?.text == "social" && $0["status"]?.text == "succeeded"
        }
      }
      #expect(await scene.broker.end(SIGTERM) == .exited(0))
      let published = handoffs.elements.first { $0["destination"]?.text == "social" }
      let first = try #require(published?["local_identifiers"]?.elements.first?.text)
      let receipt = scene.exports.appending("cut.mp4.handoff.json")
      if try FileStatus.of(receipt) != nil {
        let bytes = try FileDescriptor.open(receipt, O_RDONLY).readAll(limit: 1 << 20)
        let told = try WireCoder.decode(JSONValue.self, from: bytes)
        let isAboutFirst = told["local_identifier"]?.text == first
        #expect(!isAboutFirst || told["destinations"]?["social"]?["state"]?.text != "published")
      }
    }
  }

  @Test("a sidecar that is still being written holds its export", .timeLimit(.minutes(1)))
  func halfBox() async throws {
    try await withBox(exit: 0) { scene in
      let path = scene.exports.appending("cut.mp4")
      let sidecar = try FileDescriptor.open(
        path.addingSuffix(".handoff.toml"),
        O_WRONLY | O_CREAT,
        mode: 0o644
      )
      try sidecar.write(Array("title = \"Cut\"\n".utf8))
      try scene.write(try await Scene.video(8), to: "cut.mp4")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_sidecar" }
      try sidecar.write(Array("sync_publish = true\n".utf8))
      try sidecar.close()
      _ = try await Self.receipt(scene, "cut.mp4", social: "published")
    }
  }

  private func withBox(
    exit: Int,
    starting: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await withBox(command: "exit \(exit)", starting: starting, body)
  }

  private func withBox(
    command: String,
    starting: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    let destinations = """
      [destination.keep]
      transport = "exec"
      command = ["/bin/true"]
      [destination.social]
      transport = "exec"
      command = ["/bin/sh", "-c", "\(command)"]
      """
    let text = Scene.configuration(
      folder: "sync_publish_to = [\"social\"]",
      handoff: ["keep"],
      destinations: destinations
    )
    try await Scene.run(text, starting: starting, body)
  }

  private static func tick(_ scene: Scene, _ name: BytePath) throws {
    try DurableFile.write(
      Array("title = \"Cut\"\nsync_publish = true\n".utf8),
      to: scene.exports.appending(name).addingSuffix(".handoff.toml"),
      permissions: 0o644
    )
  }

  private static func receipt(
    _ scene: Scene,
    _ name: BytePath,
    social state: String
  ) async throws -> JSONValue {
    let path = scene.exports.appending(name).addingSuffix(".handoff.json")
    let found = try await poll(within: .seconds(20)) { () -> JSONValue? in
      guard let file = try? FileDescriptor.open(path, 0) else { return nil }
      let receipt = try WireCoder.decode(JSONValue.self, from: try file.readAll(limit: 1 << 20))
      let states = ["social", "keep"].map { receipt["destinations"]?[$0]?["state"]?.text }
      return states == [state, "done"] ? receipt : nil
    }
    let log = try scene.broker.tail()
    return try #require(found, "no receipt says \(state): \(log)")
  }
}
