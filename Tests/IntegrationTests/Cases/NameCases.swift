import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Names and kinds of files that are no exports, and odd names of those that are.
@Suite("Cases: names and kinds")
struct NameCases {
  @Test("Case 4: a rename to the final name is enough", .timeLimit(.minutes(2)))
  func renamed() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let (first, second, third) = (
        try await Scene.video(1), try await Scene.video(2), try await Scene.video(3)
      )
      try scene.write(first, to: "c.mp4.part")
      try scene.write(second, to: ".dot.mp4")
      try DurableFile.write(third, to: scene.broker.root.appending("outside.mp4"))
      try await scene.staysAt(0, assetsFor: Scene.quiet * 5)
      let why = try await scene.broker.json("why", scene.exports.appending("c.mp4.part"))
      #expect(why["state"]?.text == "ignored")
      try await scene.sh(
        """
        mv exports/c.mp4.part exports/c.mp4; mv exports/.dot.mp4 exports/dot.mp4
        mv outside.mp4 exports/in.mp4
        """
      )
      try await scene.expectExactly(["c.mp4": first, "dot.mp4": second, "in.mp4": third])
    }
  }

  @Test("Case 5: scratch files of other tools are never imported", .timeLimit(.minutes(2)))
  func scratch() async throws {
    let folder = "ignore = [\"*.draft.*\"]"
    try await Scene.run(Scene.configuration(folder: folder)) { scene in
      let bytes = try await Scene.video(1)
      let others: [BytePath] = [
        "e.mp4.tmp", "f.mp4.crdownload", ".g.mp4.AbC123", "~h.mp4", "i.draft.mp4",
      ]
      for (number, name) in others.enumerated() {
        try scene.write(try await Scene.video(UInt64(number + 2)), to: name)
      }
      try DurableFile.write(bytes, to: scene.broker.root.appending("d.mp4"))
      try await scene.sh("rsync --bwlimit=200 d.mp4 exports/d.mp4")
      try await scene.expectExactly(["d.mp4": bytes])
      try await scene.staysAt(1, assetsFor: Scene.quiet * 10)
      for name in others {
        let why = try await scene.broker.json("why", scene.exports.appending(name))
        #expect(why["state"]?.text == "ignored", "\(name)")
        #expect(why["reason"]?.text?.isEmpty == false, "\(name)")
      }
      let status = try await scene.broker.json("status")
      let listed = status["candidates"]?.elements.filter { $0["state"]?.text == "ignored" }
      #expect(listed?.count == others.count)
    }
  }

  @Test("Case 20: side files and system folders are no media", .timeLimit(.minutes(2)))
  func sideFiles() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      for folder in [".AppleDouble", ".Trashes", ".Trashes/x", "@eaDir", ".sync"] {
        try Directory.create(scene.exports.appending(folder))
      }
      let video = try await Scene.video(2)
      var random = SeededGenerator(seed: 20)
      try scene.write(random.bytes(4096), to: "._a.mp4")
      try scene.write(random.bytes(4096), to: ".DS_Store")
      for name in [".AppleDouble/a.mp4", ".Trashes/x/b.mp4", "@eaDir/c.mp4", ".sync/d.mp4"] {
        try scene.write(video, to: BytePath(name))
      }
      let bytes = try await Scene.video(1)
      try scene.write(bytes, to: "a.mp4")
      try await scene.expectExactly(["a.mp4": bytes])
      try await scene.staysAt(1, assetsFor: Scene.quiet * 5)
      let status = try await scene.broker.json("status")
      #expect(status["folders"]?.elements.first?["watches"] == .integer(1))
    }
  }

  @Test("Case 56: symbolic links that go round are not followed", .timeLimit(.minutes(2)))
  func links() async throws {
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try await scene.sh(
        """
        cd exports; ln -s .. up; ln -s "$PWD" self; mkdir d; ln -s ../d d/loop
        """
      )
      let bytes = try await Scene.video(1)
      try scene.write(bytes, to: "d/v.mp4")
      try await scene.broker.start()
      try await scene.expectExactly(["d/v.mp4": bytes])
      let status = try await scene.broker.json("status")
      #expect(status["folders"]?.elements.first?["watches"] == .integer(2))
    }
  }

  @Test("Case 58: pipes, sockets and folders are not opened", .timeLimit(.minutes(2)))
  func notRegular() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      try await scene.sh(
        """
        cd exports; mkfifo x.mp4; mkdir z.mp4
        python3 -c "import socket; socket.socket(1).bind('y.mp4')"; ln -s /dev/zero n.mp4
        """
      )
      let bytes = try await Scene.video(1)
      try scene.write(bytes, to: "ok.mp4")
      try await scene.untilImported("ok.mp4", within: .seconds(15))
      try await scene.expectExactly(["ok.mp4": bytes])
      for name in ["x.mp4", "y.mp4"] as [BytePath] {
        let why = try await scene.broker.json("why", scene.exports.appending(name))
        #expect(why["state"]?.text == "ignored")
        #expect(why["reason"]?.text == "not a regular file")
      }
    }
  }

  @Test("Case 60: names that are not UTF-8 keep their bytes", .timeLimit(.minutes(2)))
  func bytes() async throws {
    let names: [BytePath] = [
      BytePath(Array("caf".utf8) + [0xE9] + Array(".mp4".utf8)),
      BytePath([0xFF, 0xFE] + Array(".mp4".utf8)), "after.mp4",
    ]
    try await Scene.run(Scene.configuration()) { scene in
      for (number, name) in names.enumerated() {
        try scene.write(try await Scene.video(UInt64(number)), to: name)
      }
      for name in names { try await scene.untilImported(name) }
      let sources = try await scene.assets().flatMap { $0["sources"]?.elements ?? [] }
      #expect(sources.count == names.count)
      let exact = Set(sources.map { $0["path_bytes"]?.text ?? $0["path"]?.text ?? "" })
      let wanted = names.map { name in
        let path = scene.exports.appending(name)
        return path.base64UnlessText ?? path.lossyText
      }
      #expect(exact == Set(wanted))
    }
  }
}
