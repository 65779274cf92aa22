import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a rebuild of the ledger keeps from being handed off, and what a person lets go.
@Suite("Held since a rebuild", .timeLimit(.minutes(5)))
struct HeldTests {
  @Test("what is held is listed, and made once a person says so; what was an asset before never is")
  func resumed() async throws {
    try await Scene.withReceiver { scene in
      _ = try await scene.imported(1, as: "published.mp4")
      await scene.broker.end(SIGTERM)
      let sidecar = scene.exports.appending("unknown.mp4.handoff.toml")
      try DurableFile.write(Array("title = \"A title\"\n".utf8), to: sidecar)
      try scene.write(try await Scene.video(50), to: "unknown.mp4")
      try await scene.loseLedger()

      try await scene.broker.start()
      _ = try await scene.broker.wait("assets") { $0.elements.count == 2 }
      let held = try await scene.held()
      #expect(held.map { $0["title"]?.text } == ["A title"])
      let path = scene.exports.appending("unknown.mp4")
      #expect(held.map { $0["path"]?.text } == [path.lossyText])
      let why = try await scene.broker.json("why", path)
      #expect(why["reason"]?.text?.contains("--resume-handoffs") == true)
      // The same content under a new name and inode is in doubt as before.
      try await scene.seen(50, as: "unknown again.mp4")
      #expect(try await scene.ask("handoffs").document.elements.isEmpty)
      #expect(try await scene.held().count == 1)

      #expect(try await scene.broker.command(["rebuild", "--resume-handoffs"]).code == 0)
      let made = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "succeeded"
      }
      #expect(made.elements.map { $0["title"]?.text } == ["A title"])
      #expect(try await scene.held().isEmpty)

      // Renamed, touched or copied, what was an asset before the rebuild counts as handed off.
      try DurableFile.rename(
        scene.exports.appending("published.mp4"),
        to: scene.exports.appending("renamed.mp4")
      )
      let renamed = scene.exports.appending("renamed.mp4").lossyText
      _ = try await scene.broker.wait("assets") { $0.elements.contains { $0.names(renamed) } }
      try await scene.seen(1, as: "copied.mp4")
      _ = try await scene.imported(60, as: "new.mp4")
      #expect(try await scene.ask("handoffs").document.elements.count == 2)
      #expect(try scene.received() == 3)
    }
  }

  @Test("content whose record is lost or unreadable is held under whatever name it comes")
  func records() async throws {
    try await Scene.withReceiver { scene in
      let first = try await scene.imported(1, as: "a.mp4")
      let second = try await scene.imported(2, as: "b.mp4")
      await scene.broker.end(SIGTERM)
      for name in ["a.mp4", "b.mp4"] {
        try #require(unlink(scene.exports.appending(BytePath(name)).nulTerminated) == 0)
      }
      let lost = try scene.object(first).addingSuffix(".json")
      try #require(unlink(lost.nulTerminated) == 0)
      let record = try scene.object(second).addingSuffix(".json")
      try FileDescriptor.open(record, O_WRONLY | O_TRUNC).write(Array("{".utf8))
      try await scene.loseLedger()

      try await scene.broker.start()
      try await scene.seen(1, as: "another a.mp4")
      try await scene.seen(2, as: "another b.mp4")
      _ = try await scene.imported(3, as: "c.mp4")
      #expect(try scene.received() == 3)
      #expect(try await scene.held().count == 2)
    }
  }

  @Test("an original that waits for its handoffs stays while these are held")
  func original() async throws {
    let folder = "original = \"remove\"\noriginal_when = \"handed_off\""
    try await Scene.withReceiver(folder: folder) { scene in
      try await scene.seen(1, as: "first.mp4")
      await scene.broker.end(SIGTERM)
      try scene.write(try await Scene.video(50), to: "unknown.mp4")
      try await scene.loseLedger()

      try await scene.broker.start()
      let path = scene.exports.appending("unknown.mp4")
      let status = try await scene.broker.wait("status") {
        $0["originals"]?.elements.contains { $0["path"]?.text == path.lossyText } == true
      }
      let original = status["originals"]?.elements.first { $0["path"]?.text == path.lossyText }
      #expect(original?["reason"]?.text?.contains("held") == true)
      #expect(try FileStatus.of(path) != nil)
      #expect(try await scene.broker.command(["rebuild", "--resume-handoffs"]).code == 0)
      #expect(try await poll { try FileStatus.of(path) == nil ? true : nil } == true)
    }
  }
}
