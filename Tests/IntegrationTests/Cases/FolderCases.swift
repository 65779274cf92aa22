import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Folders that come, go, and get other names.
@Suite("Cases: folders")
struct FolderCases {
  @Test("Case 7: what came while the broker was down is found, once", .timeLimit(.minutes(2)))
  func atStart() async throws {
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      let (first, second) = (try await Scene.video(1), try await Scene.video(2))
      try await scene.sh("mkdir -p exports/s/t")
      try scene.write(first, to: "old1.mp4")
      try scene.write(second, to: "s/t/old2.mp4")
      try await scene.broker.start()
      try await scene.expectExactly(["old1.mp4": first, "s/t/old2.mp4": second])
      let before = try await scene.assets()
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      try await scene.staysAt(2, assetsFor: Scene.quiet * 5)
      #expect(try await scene.assets() == before)
      #expect(try scene.broker.wholeLog.ranges(of: "Imported an export").count == 2)
    }
  }

  @Test("Case 8: two hundred folders made and filled at once", .timeLimit(.minutes(4)))
  func madeAndFilled() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let videos = try await withThrowingTaskGroup(of: (BytePath, [UInt8]).self) { group in
        for number in 0..<200 {
          group.addTask {
            let bytes = try await Scene.video(UInt64(number))
            for folder in ["n\(number)", "n\(number)/x", "n\(number)/x/y"] {
              try Directory.create(scene.exports.appending(folder))
            }
            let name = BytePath("n\(number)/x/y/v\(number).mp4")
            try scene.write(bytes, to: name)
            return (name, bytes)
          }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      _ = try await scene.broker.wait("assets", within: .seconds(120)) {
        $0.elements.count == videos.count
      }
      let assets = try await scene.assets()
      #expect(assets.count == videos.count)
      let seen = Set(
        assets.flatMap { asset in
          (asset["sources"]?.elements ?? []).map { source in
            "\(source["path"]?.text ?? "") \(asset["sha256"]?.text ?? "")"
          }
        }
      )
      let wanted = try videos.map { name, bytes in
        "\(scene.exports.appending(name).lossyText) \(try Scene.digest(bytes))"
      }
      #expect(seen == Set(wanted))
    }
  }

  @Test("Case 22: files and folders that vanish at once harm nothing", .timeLimit(.minutes(3)))
  func vanishing() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      var random = SeededGenerator(seed: 22)
      let video = try await Scene.video(1)
      for number in 0..<2000 {
        let name = BytePath("v\(number % 37)")
        if Bool.random(using: &random) {
          try scene.write(Bool.random(using: &random) ? video : [], to: name.addingSuffix(".mp4"))
          unlink(scene.exports.appending(name.addingSuffix(".mp4")).nulTerminated)
        } else {
          try Directory.create(scene.exports.appending(name))
          if Bool.random(using: &random) {
            try scene.write([1], to: name.appending("in.mp4"))
            unlink(scene.exports.appending(name).appending("in.mp4").nulTerminated)
          }
          rmdir(scene.exports.appending(name).nulTerminated)
        }
      }
      let good = try await Scene.video(2)
      try scene.write(good, to: "good.mp4")
      try await scene.untilImported("good.mp4")
      let names = try await scene.assets().flatMap { $0["sources"]?.elements ?? [] }
      #expect(names.contains { $0["path"]?.text == scene.exports.appending("good.mp4").lossyText })
      #expect(!(try scene.broker.wholeLog.contains(" ERROR ")))
      let status = try await scene.broker.json("status")
      #expect(status["folders"]?.elements.first?["mode"]?.text == "events")
      #expect(status["folders"]?.elements.first?["watches"] == .integer(1))
    }
  }

  @Test("Case 24: a folder that was renamed is known by its new name", .timeLimit(.minutes(2)))
  func renamed() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let (first, second) = (try await Scene.video(1), try await Scene.video(2))
      try await scene.sh(
        "cd exports; mkdir -p a1/a2/a3; mv a1 b1; mv b1 c1; mkdir a1"
      )
      try scene.write(first, to: "c1/a2/a3/v.mp4")
      try scene.write(second, to: "a1/w.mp4")
      try await scene.expectExactly(["c1/a2/a3/v.mp4": first, "a1/w.mp4": second])
      // Later than the events of the renames, too.
      let third = try await Scene.video(3)
      try await scene.sh("cd exports; mv c1 d1")
      try scene.write(third, to: "d1/a2/a3/x.mp4")
      try await scene.untilImported("d1/a2/a3/x.mp4")
      #expect(!(try scene.broker.wholeLog.contains(" ERROR ")))
    }
  }

  @Test("Case 25: a folder that is moved in brings its files", .timeLimit(.minutes(2)))
  func movedIn() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let (first, second, third) = (
        try await Scene.video(1), try await Scene.video(2), try await Scene.video(3)
      )
      let outside = try scene.folder("day1/cam")
      try DurableFile.write(first, to: outside.appending("a.mp4"))
      try DurableFile.write(second, to: outside.appending("b.mp4"))
      try await scene.sh("mv day1 exports/")
      try await scene.expectExactly(["day1/cam/a.mp4": first, "day1/cam/b.mp4": second])
      try scene.write(third, to: "day1/cam/c.mp4")
      try await scene.expectExactly([
        "day1/cam/a.mp4": first, "day1/cam/b.mp4": second, "day1/cam/c.mp4": third,
      ])
    }
  }

  @Test("Case 73: each video of a folder is taken when it is finished", .timeLimit(.minutes(3)))
  func oneByOne() async throws {
    let configuration = Scene.configuration(
      handoff: ["script"],
      destinations: """
        [destination.script]
        transport = "exec"
        command = ["/bin/sh", "-c", "cat > /dev/null"]
        containment = "none"
        """
    )
    try await Scene.run(configuration) { scene in
      try Directory.create(scene.exports.appending("job"))
      var videos: [BytePath: [UInt8]] = [:]
      for number in 0..<10 {
        let bytes = try await Scene.video(UInt64(number))
        let name = BytePath("job/clip \(number).mp4")
        try scene.write(bytes, to: name)
        for ending in ["srt", "xml", "jpg"] {
          try scene.write([0xFF, 0xD8, 0xFF], to: BytePath("job/clip \(number).\(ending)"))
        }
        videos[name] = bytes
        try await scene.untilImported(name)
      }
      try await scene.expectExactly(videos)
      let handoffs = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 10
          && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
      #expect(handoffs.elements.count == 10)
    }
  }
}
