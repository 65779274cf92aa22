import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What every kind of remote has to stand, in a real broker with the contained plugin.
struct ArchiveWalk {
  private let archive: ArchiveScene
  private var scene: Scene { archive.scene }

  init(_ archive: ArchiveScene) {
    self.archive = archive
  }

  func kept(method: String) async throws {
    let videos = try await [Scene.video(1), Scene.video(2), Scene.video(3), Scene.video(4)]
    let year = "20\(try ArchiveScene.year())"
    // Somebody has put files there: one with the same bytes, one with others of the same size.
    try DurableFile.write(videos[1], to: scene.broker.root.appending("same.mp4"))
    try DurableFile.write(videos[3], to: scene.broker.root.appending("other.mp4"))
    try await archive.rclone("copyto same.mp4 store:masters/\(year)/b.mp4")
    try await archive.rclone("copyto other.mp4 store:masters/\(year)/c.mp4")
    for (name, video) in zip(["a.mp4", "b.mp4", "c.mp4"] as [BytePath], videos) {
      try scene.place(video, as: name)
    }
    let first = try await archive.succeeded("a.mp4")
    let output = try #require(first["output"])
    #expect(output["checksum"]?["method"]?.text == method)
    #expect(output["location"]?.text == "store:masters/\(year)/a.mp4")
    let present = try await archive.succeeded("b.mp4")
    #expect(present["output"]?["path"]?.text == "\(year)/b.mp4")
    // What somebody else has put there is read, whatever digest the server tells.
    #expect(present["output"]?["checksum"]?["method"]?.text == "downloaded")
    let marked = "c-\(try Scene.digest(videos[2]).prefix(8)).mp4"
    #expect(try await archive.succeeded("c.mp4")["output"]?["path"]?.text == "\(year)/\(marked)")
    let content = try await archive.content()
    #expect(content[BytePath("\(year)/c.mp4")] == videos[3])
    #expect(content[BytePath("\(year)/\(marked)")] == videos[2])
    #expect(content[BytePath("\(year)/a.mp4")] == videos[0])
    #expect(content.count == 5)
    try await verifiedLater(year, output)
    try await examined()
  }

  /// Changed and removed behind our back.
  private func verifiedLater(_ year: String, _ output: JSONValue) async throws {
    func standings() async throws -> [String] {
      let ended = try await scene.broker.command(["destinations", "verify", "archive", "--json"])
      let text = String(decoding: ended.output, as: UTF8.self)
      return ["intact", "damaged", "missing"].map { word in
        "\(word) \(text.ranges(of: "\"standing\":\"\(word)\"").count)"
      }
    }
    let before = try await standings()
    #expect(before.suffix(2) == ["damaged 0", "missing 0"])
    try await archive.rclone("copyto --ignore-times other.mp4 store:masters/\(year)/a.mp4")
    try await archive.rclone("deletefile store:masters/\(year)/b.mp4")
    let after = try await standings()
    #expect(before[0] != "intact 0")
    #expect(after[1] != "damaged 0")
    #expect(after[2] != "missing 0")
  }

  /// What doctor says of it, without publishing.
  private func examined() async throws {
    let ended = try await scene.broker.command(["doctor"])
    let text = String(decoding: ended.output, as: UTF8.self)
    #expect(text.contains("store:masters answers"), "\(text)")
  }

  func refusals() async throws {
    try scene.place(try await Scene.video(1), as: "a.mp4")
    let wrong = try await archive.handoff(of: "a.mp4", to: "wrong") { $0["error"]?["code"] != nil }
    #expect(wrong["error"]?["code"]?.text == "auth", "\(wrong)")
    #expect(wrong["error"]?["effect"]?.text == "none")
    let nowhere = try await archive.handoff(of: "a.mp4", to: "nowhere") {
      $0["error"]?["code"] != nil
    }
    #expect(nowhere["error"]?["code"]?.text == "not_configured", "\(nowhere)")
    #expect(nowhere["error"]?["effect"]?.text == "none")
    #expect(try await archive.content().isEmpty)
  }

  /// Each time the upload is cut off in the middle, and one whole copy is there in the end.
  func killed(_ life: ServerLife) async throws {
    var files: [String: [UInt8]] = [:]
    func export(_ name: String, _ number: UInt64) async throws {
      try await scene.writeLarge(BytePath(name), number: number, padding: ArchiveScene.slow << 20)
      files[name] = try ServerTests.bytes(scene.exports.appending(name))
    }
    try await export("server.mp4", 1)
    _ = try await archive.uploading("server.mp4")
    await life.kill()
    _ = try await archive.handoff(of: "server.mp4") { ($0["attempts"]?.integer ?? 0) > 1 }
    try await life.start()
    _ = try await archive.succeeded("server.mp4")
    try await archive.expectExactly(files)

    try await export("plugin.mp4", 2)
    let child = try await archive.uploading("plugin.mp4")
    for id in try archive.processes("handoff-archive") { kill(id, SIGKILL) }
    let isGone = try await poll { () -> Bool? in
      try archive.processes("rclone").contains(child) ? nil : true
    }
    #expect(isGone == true, "rclone outlives the plugin")
    _ = try await archive.succeeded("plugin.mp4")
    try await archive.expectExactly(files)

    try await export("broker.mp4", 3)
    _ = try await archive.uploading("broker.mp4")
    await scene.broker.end(SIGKILL)
    let isAlone = try await poll { try archive.processes("rclone").isEmpty ? true : nil }
    #expect(isAlone == true, "rclone outlives the broker")
    try await scene.broker.start()
    _ = try await archive.succeeded("broker.mp4")
    try await archive.expectExactly(files)
  }
}
