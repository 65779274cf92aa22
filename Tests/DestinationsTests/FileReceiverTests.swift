import Destinations
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("A file receiver", .timeLimit(.minutes(1)))
struct FileReceiverTests {
  private static let clip = Array("the bytes of a video".utf8)

  @Test("copies one asset under its own name, with a manifest beside it")
  func one() async throws {
    try await InboxScene.run { scene in
      let asset = try scene.asset(Self.clip, "Day 1.mp4")
      let receiver = try scene.receiver()
      let result = try await scene.deliver([asset], receiver)
      let path = JSONValue.string(scene.inbox.appending("Day 1.mp4").lossyText)
      #expect(result.output?["delivered"] == .bool(true))
      #expect(result.output?["path"] == path)
      let isCopy = result.output?["method"]?.text == "copy"
      #expect(result.output?["bytes_copied"] == .integer(isCopy ? 20 : 0))
      #expect(try scene.shown() == ["Day 1.mp4", "Day 1.mp4.handoff-manifest.json"])
      #expect(try scene.bytes("Day 1.mp4") == Self.clip)
      #expect(try FileStatus.of(scene.inbox.appending("Day 1.mp4"))?.permissions == 0o644)
      let manifest = try scene.document("Day 1.mp4.handoff-manifest.json")
      #expect(manifest["handoff_id"]?.text == "h12")
      #expect(manifest["request"]?["title"]?.text == "A title")
      let files = try scene.files(manifest)
      #expect(files.count == 1)
      #expect(files[0]["name"]?.text == "Day 1.mp4")
      #expect(files[0]["sha256"]?.text == asset.digest.hex)
      #expect(files[0]["size"] == .integer(20))
      let text = String(decoding: try scene.bytes("Day 1.mp4.handoff-manifest.json"), as: UTF8.self)
      #expect(!text.contains("abcdefghijklmnopqrstuvwxyz"), "no token")
      await receiver.forget("h12")
      #expect(try scene.names() == scene.shown())
      #expect(try scene.names(scene.work.appending("deliveries")).isEmpty)
    }
  }

  @Test("gives several assets as one folder with its manifest")
  func several() async throws {
    try await InboxScene.run { scene in
      let assets = [
        try scene.asset(Self.clip, "a.mp4"), try scene.asset([1, 2, 3], "b.mp4"),
        try scene.asset([4], "a.mp4"),
      ]
      let result = try await scene.deliver(assets)
      #expect(result.output?["path"]?.text == scene.inbox.appending("a").lossyText)
      #expect(try scene.shown() == ["a"])
      let folder = scene.inbox.appending("a")
      #expect(try scene.names(folder) == ["a 2.mp4", "a.mp4", "b.mp4", "handoff-manifest.json"])
      #expect(try scene.bytes("a/a 2.mp4") == [4])
      let files = try scene.files(scene.document("a/handoff-manifest.json"))
      #expect(files.compactMap { $0["name"]?.text } == ["a.mp4", "b.mp4", "a 2.mp4"])
      #expect(try FileStatus.of(folder)?.permissions == 0o755)
    }
  }

  @Test("never replaces what has the name, nor follows a link that has it")
  func taken() async throws {
    try await InboxScene.run { scene in
      try Directory.create(scene.inbox)
      let other = scene.root.appending("elsewhere")
      symlink(other.lossyText, scene.inbox.appending("a.mp4").lossyText)
      try DurableFile.write([7], to: scene.inbox.appending("a 2.mp4"))
      try DurableFile.write([8], to: scene.inbox.appending("a 3.mp4.handoff-manifest.json"))
      let result = try await scene.deliver([scene.asset(Self.clip, "a.mp4")])
      #expect(result.output?["path"]?.text?.hasSuffix("/a 4.mp4") == true)
      #expect(try scene.bytes("a 4.mp4") == Self.clip)
      #expect(try scene.bytes("a 2.mp4") == [7])
      #expect(try FileStatus.of(other) == nil)
      #expect(try FileStatus.of(scene.inbox.appending("a.mp4"))?.kind == .symbolicLink)
      let again = try await scene.deliver([scene.asset(Self.clip, "a.mp4")], handoff: "h13")
      #expect(again.output?["path"]?.text?.hasSuffix("/a 5.mp4") == true)
    }
  }

  @Test("keeps names that are not UTF-8, and shortens those that leave no room")
  func names() async throws {
    try await InboxScene.run { scene in
      let odd = BytePath([0x66, 0xFC, 0x72] + Array(".mp4".utf8))
      let result = try await scene.deliver([scene.asset(Self.clip, odd)])
      #expect(try scene.bytes(odd) == Self.clip)
      #expect(result.output?["path_bytes"]?.text != nil)
      let manifest = try scene.document(odd.addingSuffix(".handoff-manifest.json"))
      let files = try scene.files(manifest)
      #expect(files[0]["name_bytes"]?.text == "ZvxyLm1wNA==")
      let long = BytePath(String(repeating: "ü", count: 125) + ".mp4")
      for handoff in ["h1", "h2"] {
        let result = try await scene.deliver([scene.asset(Self.clip, long)], handoff: handoff)
        let path = try #require(result.output?["path"]?.text)
        #expect(path.hasSuffix(handoff == "h1" ? "ü.mp4" : "ü 2.mp4"))
        #expect(try scene.bytes(BytePath(path).lastComponent) == Self.clip)
      }
    }
  }

  @Test("refuses an asset whose bytes are not those that were imported, and leaves nothing")
  func damaged() async throws {
    try await InboxScene.run { scene in
      let asset = try scene.asset([UInt8](repeating: 1, count: 3_000_000), "a.mp4")
      chmod(asset.path.lossyText, 0o644)
      try FileDescriptor.open(asset.path, O_WRONLY).write([2])
      let result = try await scene.deliver([asset])
      if result.output?["method"]?.text == "reflink" { return print("skipped: bytes are shared") }
      #expect(result.error?.code == .assetDamaged)
      #expect(result.error?.localIdentifier == asset.localIdentifier)
      #expect(try scene.names().isEmpty)
      try FileDescriptor.open(asset.path, O_WRONLY).setSize(5)
      #expect(try await scene.deliver([asset]).error?.code == .assetDamaged)
      #expect(try scene.names(scene.work.appending("deliveries")).isEmpty)
    }
  }

  @Test("finds and clears what an earlier broker left, also in an inbox that was another then")
  func moved() async throws {
    try await InboxScene.run { scene in
      _ = try await scene.deliver([scene.asset(Self.clip, "a.mp4")])
      #expect(try scene.names().count == 3, "its staging folder stays until it is forgotten")
      let journals = scene.work.appending("deliveries")
      try DurableFile.write([1], to: journals.appending(".12.34.tmp"))
      let moved = try scene.receiver(inbox: scene.root.appending("other"))
      guard case .delivered(let output) = await moved.standing(of: "h12") else {
        Issue.record("it is in the inbox that was configured then")
        return
      }
      #expect(output["path"]?.text == scene.inbox.appending("a.mp4").lossyText)
      await moved.sweep(keeping: ["h12"])
      #expect(try scene.names(journals) == ["h12.json"])
      await moved.sweep(keeping: [])
      #expect(try scene.names(journals).isEmpty)
      #expect(try scene.names() == scene.shown())
      #expect(try scene.shown().count == 2)
    }
  }

  @Test("makes the inbox, but not the folder that it lies in")
  func missing() async throws {
    try await InboxScene.run { scene in
      let asset = try scene.asset(Self.clip, "a.mp4")
      let away = try scene.receiver(inbox: scene.root.appending("mount/inbox"))
      let error = try await scene.deliver([asset], away).error
      #expect(error?.code == .destinationUnavailable)
      #expect(error?.effect == Effect.none)
      #expect(error?.retry == .later)
      #expect(error?.message.hasSuffix("/mount/inbox is not there") == true)
      try DurableFile.write([], to: scene.root.appending("file"))
      let file = try scene.receiver(inbox: scene.root.appending("file"))
      #expect(
        try await scene.deliver([asset], file).error?.message.contains("not a folder") == true
      )
    }
  }

  @Test("that may not write waits")
  func permission() async throws {
    try await InboxScene.run { scene in
      guard getuid() != 0 else { return print("skipped: root may write everywhere") }
      try Directory.create(scene.inbox, permissions: 0o500)
      let error = try await scene.deliver([scene.asset(Self.clip, "a.mp4")]).error
      #expect(error?.message.contains("may not write") == true)
      #expect(error?.retry == .later)
    }
  }

  @Test("that is cancelled before it copies leaves nothing and says so")
  func cancelled() async throws {
    try await InboxScene.run { scene in
      let asset = try scene.asset(Self.clip, "a.mp4")
      let receiver = try scene.receiver()
      let request = try InboxScene.request([asset])
      let task = Task {
        // The cancellation is there before the delivery begins.
        while !Task.isCancelled { await Task.yield() }
        return await receiver.deliver(request, handoff: "h12", assets: [asset])
      }
      task.cancel()
      let error = await task.value.error
      #expect(error?.code == .interrupted)
      #expect(error?.effect == Effect.none)
      #expect(try FileStatus.of(scene.inbox) == nil)
    }
  }
}
