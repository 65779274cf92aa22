import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// How the broker watches, and what `status` says of it.
@Suite("Watch modes", .timeLimit(.minutes(3)))
struct WatchModeTests {
  @Test("a folder that is to be polled is, and loses nothing over a lost root (case 27)")
  func polls() async throws {
    let text = Scene.configuration(folder: "watch = \"poll\"\npoll_interval = \"500ms\"")
    try await Scene.run(text) { scene in
      try Directory.create(scene.exports.appending("a"))
      try scene.write(try await Scene.video(1), to: "a/one.mp4")
      _ = try await scene.broker.wait("assets") { $0.elements.count == 1 }
      let folder = try await Self.folder(scene) { $0["mode"]?.text == "poll" }
      #expect(folder["watches"]?.integer == 0)
      #expect(folder["degraded"] == .null)
      #expect(folder["rescans"]?.integer == 0)

      try DurableFile.rename(scene.exports, to: scene.exports.addingSuffix(".away"))
      _ = try await Self.folder(scene) { $0["mode"]?.text == "offline" }
      try DurableFile.rename(scene.exports.addingSuffix(".away"), to: scene.exports)
      let back = try await Self.folder(scene) { $0["mode"]?.text == "poll" }
      #expect(back["rescans"]?.integer == 1)
      #expect(back["rescan_reason"]?.text?.contains("its root was away") == true)
      try scene.write(try await Scene.video(2), to: "a/two.mp4")
      _ = try await scene.broker.wait("assets") { $0.elements.count == 2 }
      let assets = try await scene.broker.json("assets").elements
      #expect(assets.allSatisfy { $0["sources"]?.elements.count == 1 })
    }
  }

  @Test("files written on the other side of a FUSE file system are imported once (case 6)")
  func pollsFUSE() async throws {
    let isThere = "command -v bindfs >/dev/null && test -w /dev/fuse"
    let mounts = "unshare --mount mount -t tmpfs none /mnt 2>/dev/null"
    guard await shell("\(isThere) && \(mounts)") == 0 else {
      print("skipped: a FUSE file system cannot be mounted here")
      return
    }
    let text = Scene.configuration(folder: "poll_interval = \"500ms\"\nquiet_poll = \"2s\"")
    try await Scene.run(text, starting: false) { scene in
      let under = scene.broker.root.appending("under")
      try Directory.create(under.appending("cam"))
      let mount = "bindfs \(under.lossyText) \(scene.exports.lossyText)"
      #expect(await shell(mount) == 0)
      defer { _ = system("umount -l \(scene.exports.lossyText)") }
      try await scene.broker.start()
      let folder = try await Self.folder(scene) { $0["mode"]?.text == "poll" }
      #expect(folder["degraded"]?.text?.contains("FUSE") == true)
      #expect(try scene.broker.wholeLog.contains("FUSE"))
      let video = try await Scene.video(3)
      let file = try FileDescriptor.open(under.appending("cam/v.mp4"), O_WRONLY | O_CREAT)
      try file.write(video)
      try file.close()
      let assets = try await scene.broker.wait("assets") { $0.elements.count == 1 }
      #expect(assets.elements.first?["size"]?.integer == Int64(video.count))
      let why = try await scene.broker.json("why", scene.exports.appending("cam/v.mp4"))
      #expect(why["state"]?.text == "imported")
    }
  }

  private static func folder(
    _ scene: Scene,
    where fits: (JSONValue) -> Bool
  ) async throws -> JSONValue {
    let status = try await scene.broker.wait("status") { status in
      status["folders"]?.elements.first.map(fits) ?? false
    }
    return try #require(status["folders"]?.elements.first)
  }
}
