import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// `handoff fsck` and `handoff gc`, by the running broker and without one.
@Suite("fsck and gc", .timeLimit(.minutes(3)))
struct FsckTests {
  private static let unknown = String(repeating: "ab", count: 32)

  @Test("names everything that is not as it should be, and mends modes and records")
  func findings() async throws {
    try await Scene.withReceiver { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      let other = try await scene.imported(2, as: "other.mp4")
      #expect(try await scene.ask("fsck").code == 0)
      await scene.broker.end(SIGTERM)
      let object = try scene.object(asset)
      try #require(chmod(object.nulTerminated, 0o644) == 0)
      try #require(unlink(try scene.object(other).addingSuffix(".json").nulTerminated) == 0)
      let shard = scene.library.appending("objects/ab")
      try DurableFile.write([1, 2, 3], to: shard.appending(Self.unknown))
      try DurableFile.write([1], to: shard.appending("notes.txt"))
      try DurableFile.write([1], to: shard.appending(Self.unknown.replacing("ab", with: "ac")))
      let (code, report) = try await scene.ask("fsck")
      #expect(code == 1)
      #expect(
        report.kinds == [
          "damaged", "missing_record", "orphan_object", "permissions", "stray", "stray",
        ]
      )
      #expect(report["objects"] == .integer(3))
      #expect(try FileStatus.of(object)?.permissions == 0o444)
      for name in ["notes.txt", Self.unknown.replacing("ab", with: "ac")] {
        try #require(unlink(shard.appending(BytePath(name)).nulTerminated) == 0)
      }
      let again = try await scene.ask("fsck")
      #expect(again.document.kinds == ["damaged", "orphan_object"])
      #expect(try FileStatus.of(shard.appending(BytePath(Self.unknown))) != nil)
      try await Self.clear(scene, orphan: shard.appending(BytePath(Self.unknown)))
      #expect(try await scene.ask("fsck").code == 0)
    }
  }

  @Test("a record that cannot be read is written anew from the ledger, with all it knew")
  func malformedRecord() async throws {
    try await Scene.withReceiver { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      let sha256 = try asset.text(of: "sha256")
      let before = try scene.record(sha256)
      let path = try scene.object(asset).addingSuffix(".json")
      try DurableFile.write(Array("nothing".utf8), to: path)
      let again = try await scene.imported(1, as: "copy.mp4")
      #expect(again["sources"]?.elements.count == 2)
      let after = try scene.record(sha256)
      #expect(after["sources"]?.elements.count == 2)
      #expect(after["imported_at"] == before["imported_at"])
    }
  }

  /// The other half: `gc` takes what is nobody's, and leaves what is somebody's.
  private static func clear(_ scene: Scene, orphan: BytePath) async throws {
    let staging = scene.library.appending("staging")
    let stale = staging.appending(BytePath("import-" + String(repeating: "0", count: 32)))
    let locked = staging.appending(BytePath("import-" + String(repeating: "1", count: 32)))
    let foreign = staging.appending("somebody-elses")
    let aside = scene.library.appending("set-aside")
      .appending(BytePath("\(unknown)-" + String(repeating: "2", count: 32)))
    for path in [stale, locked, foreign, aside] { try DurableFile.write([1, 2], to: path) }
    let grants = scene.library.appending("grants/script/h999/1")
    try Directory.create(grants)
    let held = try FileDescriptor.open(locked, O_RDONLY)
    try #require(flock(held.rawValue, LOCK_EX) == 0)

    let young = try await scene.ask("gc").document
    #expect(young["removed"]?.elements.count == 1, "all but the unknown grants are too young")
    try Directory.create(grants)
    let dry = try await scene.ask("gc", "--older-than", "0s", "--dry-run").document
    #expect(try FileStatus.of(orphan) != nil)
    #expect(try FileStatus.of(grants) != nil)
    #expect(dry["removed"]?.elements.count == 4, "the lock is only tried when it counts")
    let wet = try await scene.ask("gc", "--older-than", "0s").document
    #expect(wet["bytes"] == .integer(5))
    for path in [stale, orphan, grants.parent] { #expect(try FileStatus.of(path) == nil) }
    for path in [locked, foreign, aside] { #expect(try FileStatus.of(path) != nil) }
    _ = try await scene.ask("gc", "--older-than", "0s", "--set-aside", "0s")
    #expect(try FileStatus.of(aside) == nil)
    try held.close()
  }

  @Test("a check that the broker's death interrupts is gone on with, unless it is begun anew")
  func resumed() async throws {
    try await Scene.withReceiver { scene in
      for number in 1...4 {
        _ = try await scene.imported(UInt64(number), as: BytePath("\(number).mp4"))
      }
      // Some seconds for each object, so that the kill comes between.
      let interrupted = try await scene.begin(["fsck", "--rate", "40kB/s"], output: "first")
      _ = try await scene.broker.wait("status") { status in
        status["library"]?["last_verified_at"]?.text != nil
      }
      await scene.broker.end(SIGKILL)
      #expect(await interrupted.exit() == .exited(75))
      try await scene.broker.start()
      let (code, report) = try await scene.ask("fsck")
      #expect(code == 0)
      #expect(report["resumed"] == .bool(true))
      #expect(report["objects"] == .integer(4))
      #expect(report["bytes"] == report["bytes_total"])
      #expect(try await scene.ask("fsck").document["resumed"] == .bool(false))
    }
  }

  @Test("a check can be stopped, attached to, and refuses to be two")
  func stopped() async throws {
    try await Scene.withReceiver { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      let identifier = BytePath(try #require(asset["local_identifier"]?.text))
      let first = try await scene.begin(["fsck", "--rate", "1kB/s"], output: "first")
      try #require(try await scene.hasSpoken("first"))
      #expect(try await scene.broker.command(["fsck", identifier]).code == 4)
      let second = try await scene.begin(["fsck"], output: "second")
      #expect(try await scene.broker.command(["gc", "--older-than", "1s"]).code == 4)
      #expect(try await scene.broker.command(["fsck", "--stop"]).code == 0)
      #expect(await first.exit() == .exited(1))
      #expect(try scene.document("first")["state"]?.text == "stopped")
      // It was attached to the first one, or came after it and has gone on.
      _ = await second.exit()
      let end = try scene.document("second")
      #expect(end["state"]?.text == "stopped" || end["resumed"] == .bool(true))
      #expect(try await scene.broker.command(["fsck", "--stop"]).code == 3)
    }
  }

  @Test("Case 65: identifiers with slashes name assets and never paths")
  func identifiers() async throws {
    try await Scene.withReceiver { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      let identifier = try #require(asset["local_identifier"]?.text)
      let uuid = String(identifier.prefix(36))
      for form in [identifier, uuid, identifier.lowercased()] {
        #expect(try await scene.broker.command(["show", BytePath(form)]).code == 0, "\(form)")
        #expect(try await scene.broker.command(["fsck", BytePath(form)]).code == 0, "\(form)")
        #expect(
          try await scene.broker.command(
            ["send", BytePath(form), "--to", "script", "--again", "--wait"]
          ).code == 0
        )
      }
      let made = "00000000-0000-8000-8000-000000000000/L0/001"
      for form in [
        "../x/L0/001", "../../no/such/file", made, "\(uuid)/L0/002", "\(uuid)/../L0/001",
      ] {
        for words: [BytePath] in [["show"], ["fsck"], ["send", "--to", "script"]] {
          let ended = try await scene.broker.command(words + [BytePath(form)])
          #expect(ended.code == 3, "\(words) \(form): \(ended.errors)")
        }
      }
      let names = try Directory.entries(of: scene.library).map(\.name.lossyText).sorted()
      #expect(
        names == ["grants", "ledger-mark.json", "library.json", "objects", "set-aside", "staging"]
      )
    }
  }
}
