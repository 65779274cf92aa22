import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// One content under several names, several contents under one name, and files that are left lying.
@Suite("Sightings")
struct SightingTests {
  @Test(
    "Case 13: each re-export under one name is an asset of its own, in order, at one path",
    .timeLimit(.minutes(2))
  )
  func sameName() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      try scene.write(try await Scene.video(1), to: "r.mp4")
      let first = try await scene.identifier(of: "r.mp4")
      let inode = try FileStatus.of(scene.exports.appending("r.mp4"))?.inode
      try scene.write(try await Scene.video(2), to: "r.mp4")
      let second = try await scene.identifier(of: "r.mp4", other: first)
      #expect(try FileStatus.of(scene.exports.appending("r.mp4"))?.inode == inode)
      try scene.place(try await Scene.video(3), as: "r.mp4")
      let third = try await scene.identifier(of: "r.mp4", other: second)
      let assets = try await scene.broker.json("assets").elements
      #expect(assets.map { $0["local_identifier"]?.text } == [first, second, third])
      #expect(Set(assets.map { $0["sha256"]?.text }).count == 3)
      let path = scene.exports.appending("r.mp4").lossyText
      for asset in assets {
        #expect(asset["sources"]?.elements.map { $0["path"]?.text } == [path])
      }
      let records = try assets.map { try scene.record(try $0.text(of: "sha256")) }
      #expect(records.map { $0["superseded_by"]?.text } == [second, third, nil])
      #expect(records.map { $0["supersedes"]?.text } == [nil, first, second])
      #expect(assets.map { $0["supersedes"] } == [.null, .string(first), .string(second)])
      #expect(assets.map { $0["superseded_by"] } == [.string(second), .string(third), .null])
      #expect(await scene.broker.end(SIGTERM) == .exited(0))
      try await scene.broker.start()
      #expect(try await scene.broker.json("assets").elements.count == 3)
    }
  }

  @Test(
    "Case 14: a file that is left lying is imported and handed off once, whatever looks at it",
    .timeLimit(.minutes(2))
  )
  func leftLying() async throws {
    let text = Scene.configuration(
      folder: "watch = \"auto\"",
      handoff: ["quick"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      let path = scene.exports.appending("cut.mp4")
      try scene.write(try await Scene.video(4), to: "cut.mp4")
      let identifier = try await scene.identifier(of: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.map { $0["status"]?.text } == ["succeeded"]
      }
      let changes = ["touch", "chmod 600", "touch -d 2001-01-01", "chmod 644"]
      for (number, change) in changes.enumerated() {
        #expect(await shell("\(change) '\(path.lossyText)'") == 0)
        // A later export shows that this one has been looked at by now.
        let name = BytePath("after \(change).mp4")
        try scene.write(try await Scene.video(UInt64(200 + number)), to: name)
        _ = try await scene.identifier(of: name)
        #expect(try await scene.identifier(of: "cut.mp4") == identifier)
      }
      // Five listings: two at starts, three when the root is lost and comes back.
      for round in 1...5 {
        if round <= 2 {
          await scene.broker.end(SIGTERM)
          try await scene.broker.start()
        } else {
          let away = scene.broker.root.appending("away")
          try DurableFile.rename(scene.exports, to: away)
          _ = try await scene.broker.wait("status") {
            $0["folders"]?.elements.first?["mode"]?.text == "offline"
          }
          try DurableFile.rename(away, to: scene.exports)
        }
        let name = BytePath("round \(round).mp4")
        try scene.write(try await Scene.video(UInt64(100 + round)), to: name)
        _ = try await scene.identifier(of: name)
      }
      let assets = try await scene.broker.json("assets").elements
      let own = try #require(assets.first { $0["local_identifier"]?.text == identifier })
      #expect(own["sources"]?.elements.count == 1)
      #expect(try await scene.handoffs(of: identifier, to: "quick").count == 1)
      #expect(try await scene.events(identifier).count { $0 == "imported" } == 1)
      #expect(assets.count == 4 + 5 + 1)
    }
  }

  @Test(
    "Case 69: copies in parallel are one asset with a sighting each; different bytes never merge",
    .timeLimit(.minutes(2))
  )
  func copies() async throws {
    let destinations = Scene.held
    let text =
      Scene.configuration(handoff: ["quick"], destinations: destinations) + """

        [[drop_folder]]
        path = "others"
        quiet = "100ms"
        handoff = ["quick", "again"]

        [destination.again]
        transport = "exec"
        command = ["/bin/true"]
        """
    try await Scene.run(text, starting: false) { scene in
      let others = scene.broker.root.appending("others")
      try Directory.create(others)
      for folder in ["one", "two"] { try Directory.create(scene.exports.appending(folder)) }
      try await scene.broker.start()
      let bytes = try await Scene.video(5)
      let names = (1...20).map { BytePath("copy \($0).mp4") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in names { group.addTask { try scene.write(bytes, to: name) } }
        try await group.waitForAll()
      }
      var identifiers: Set<String> = []
      for name in names { identifiers.insert(try await scene.identifier(of: name)) }
      let identifier = try #require(identifiers.first)
      #expect(identifiers.count == 1)
      #expect(try await scene.asset(identifier)["sources"]?.elements.count == 20)
      #expect(try await scene.handoffs(of: identifier, to: "quick").count == 1)
      #expect(try scene.objects().count == 1)
      let record = try scene.record(try await scene.asset(identifier).text(of: "sha256"))
      #expect(record["sources"]?.elements.count == 20)

      // In another folder it gets what that folder has besides.
      try DurableFile.write(bytes, to: others.appending("copy.mp4"))
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 2
          && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
      let folders = try await scene.asset(identifier)["sources"]?.elements.map {
        $0["folder"]?.text
      }
      #expect(Set(folders ?? []) == [scene.exports.lossyText, others.lossyText])
      #expect(try await scene.handoffs(of: identifier, to: "again").count == 1)
      // Once more only on purpose.
      let send: [BytePath] = ["send", BytePath(identifier), "--to", "quick"]
      #expect(try await scene.broker.command(send).code == 4)
      #expect(try await scene.broker.command(send + ["--again", "--wait"]).code == 0)

      // Two videos with one name, size and modification time.
      let pair: [(BytePath, UInt64)] = [("one/v.mp4", 6), ("two/v.mp4", 7)]
      for (name, number) in pair {
        try scene.write(try await Scene.video(number), to: name)
        let path = scene.exports.appending(name).lossyText
        #expect(await shell("touch -d 2020-02-02T02:02:02 '\(path)'") == 0)
      }
      let first = try await scene.identifier(of: "one/v.mp4")
      let second = try await scene.identifier(of: "two/v.mp4")
      #expect(first != second)
      let sizes = [try await scene.asset(first)["size"], try await scene.asset(second)["size"]]
      #expect(sizes[0] == sizes[1])
      #expect(try scene.objects().count == 3)
    }
  }

  @Test(
    "Case 64: names that differ by letter case are two exports, and a rename makes no third asset",
    .timeLimit(.minutes(1))
  )
  func letterCase() async throws {
    let text = Scene.configuration(handoff: ["quick"], destinations: Scene.held)
    try await Scene.run(text) { scene in
      try scene.write(try await Scene.video(8), to: "Clip.MP4")
      try scene.write(try await Scene.video(9), to: "clip.mp4")
      let upper = try await scene.identifier(of: "Clip.MP4")
      let lower = try await scene.identifier(of: "clip.mp4")
      #expect(upper != lower)
      try DurableFile.rename(
        scene.exports.appending("clip.mp4"),
        to: scene.exports.appending("CLIP.mp4")
      )
      #expect(try await scene.identifier(of: "CLIP.mp4") == lower)
      #expect(try await scene.broker.json("assets").elements.count == 2)
      #expect(try await scene.broker.json("handoffs").elements.count == 2)
      #expect(try await scene.asset(lower)["sources"]?.elements.count == 2)
    }
  }
}
