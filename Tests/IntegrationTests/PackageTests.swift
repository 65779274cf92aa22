import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Folders whose directories are requests, with the broker's own process (CASES 73, 31, 44).
@Suite("Packages end to end")
struct PackageTests {
  private static let kills = 10
  private static let members = 4

  private static func configuration(
    _ folder: String = "",
    destination: String = ""
  ) -> String {
    Scene.configuration(
      folder: "package = true\n\(folder)",
      handoff: ["keep"],
      destinations: """
        [destination.keep]
        transport = "exec"
        command = ["/bin/true"]
        \(destination)
        """
    )
  }

  /// Writes a package beside the drop folder and moves it in, whole.
  private static func moveIn(_ scene: Scene, _ name: BytePath, _ numbers: [UInt64]) async throws {
    let outside = scene.broker.root.appending(name)
    try Directory.create(outside)
    for number in numbers {
      let file = try FileDescriptor.open(
        outside.appending("\(number).mp4"),
        O_WRONLY | O_CREAT,
        mode: 0o644
      )
      try file.write(try await Scene.video(number))
      try file.close()
    }
    try DurableFile.rename(outside, to: scene.exports.appending(name))
  }

  private static func names(_ handoff: JSONValue) -> [String] {
    handoff["local_identifiers"]?.elements.compactMap(\.text) ?? []
  }

  @Test(
    "Case 73: ten videos and side files that come one by one are one request, ordered by path",
    .timeLimit(.minutes(1))
  )
  func oneByOne() async throws {
    let text = Self.configuration().replacing("quiet = \"100ms\"", with: "quiet = \"3s\"")
    try await Scene.run(text) { scene in
      try Directory.create(scene.exports.appending("job"))
      for number in 0..<10 {
        try scene.write(
          try await Scene.video(UInt64(number)),
          to: BytePath("job/\(9 - number).mp4")
        )
        for ending in ["srt", "xml", "jpg"] {
          try scene.write(Array("side".utf8), to: BytePath("job/\(number).\(ending)"))
        }
        let path = scene.exports.appending("job/\(9 - number).mp4")
        _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_quiet" }
      }
      let why = try await scene.broker.json("why", scene.exports.appending("job/0.mp4"))
      #expect(["waiting_quiet", "waiting_package"].contains(why["state"]?.text ?? ""))
      #expect(try await scene.broker.json("assets").elements.isEmpty)
      let handoffs = try await scene.broker.wait("handoffs") {
        $0.elements.contains { $0["status"]?.text == "succeeded" }
      }
      #expect(handoffs.elements.count == 1)
      let handoff = try #require(handoffs.elements.first)
      #expect(handoff["title"]?.text == "job")
      let assets = try await scene.broker.json("assets").elements
      #expect(assets.count == 10)
      let paths = Dictionary(
        uniqueKeysWithValues: assets.map {
          ($0["local_identifier"]?.text ?? "", $0["sources"]?.elements.first?["path"]?.text ?? "")
        }
      )
      let ordered = Self.names(handoff).compactMap { paths[$0] }
      #expect(ordered == paths.values.sorted())
      let package = try await scene.broker.json("why", scene.exports.appending("job"))
      #expect(package["state"]?.text == "imported")
    }
  }

  @Test(
    "killed between the imports of its exports, a package is exactly one request with all of them",
    .timeLimit(.minutes(5)),
    arguments: ["keep", "remove"]
  )
  func killed(original: String) async throws {
    try await Scene.run(Self.configuration("original = \"\(original)\"")) { scene in
      var inTheMiddle = 0
      for package in 1...Self.kills {
        let before = try Self.imports(scene)
        let first = UInt64(package * 10)
        let members = (0..<UInt64(Self.members)).map { first + $0 }
        try await Self.moveIn(scene, BytePath("job \(package)"), members)
        // After none, one, two … of the imports, and after all of them.
        let wanted = before + package % (Self.members + 1)
        let reached = try await poll(within: .seconds(20), every: .milliseconds(1)) {
          try Self.imports(scene) >= wanted ? true : nil
        }
        #expect(reached == true)
        await scene.broker.end(SIGKILL)
        let done = try Self.imports(scene) - before
        if (1..<Self.members).contains(done) { inTheMiddle += 1 }
        try await scene.broker.start()
        let handoffs = try await scene.broker.wait("handoffs", within: .seconds(60)) {
          $0.elements.count >= package
        }
        #expect(handoffs.elements.count == package)
        #expect(handoffs.elements.allSatisfy { Self.names($0).count == Self.members })
        let all = handoffs.elements.flatMap(Self.names)
        #expect(Set(all).count == Self.members * package, "an export in two requests")
      }
      print("\(Self.kills) kills with original = \(original), \(inTheMiddle) between the imports")
      #expect(inTheMiddle > 0)
      if original == "remove" { try await Self.expectNoOriginals(scene) }
    }
  }

  @Test(
    "members of the same content, or that the library has, are taken once, requested and removed",
    .timeLimit(.minutes(2))
  )
  func sameContent() async throws {
    try await Scene.run(Self.configuration("original = \"remove\"")) { scene in
      try await Self.moveIn(scene, "first", [1])
      _ = try await scene.broker.wait("handoffs") { $0.elements.count == 1 }
      let outside = scene.broker.root.appending("job")
      try Directory.create(outside)
      for (name, number) in [("a.mp4", 1), ("b.mp4", 2), ("c.mp4", 2)] {
        try DurableFile.write(
          try await Scene.video(UInt64(number)),
          to: outside.appending(BytePath(name)),
          permissions: 0o644
        )
        // As another user's export: a take would change its owner.
        try checked("chown") {
          chown(outside.appending(BytePath(name)).nulTerminated, 65_534, 65_534)
        }
      }
      try DurableFile.rename(outside, to: scene.exports.appending("job"))
      let handoffs = try await scene.broker.wait("handoffs") { $0.elements.count == 2 }
      #expect(handoffs.elements.map { Self.names($0).count } == [1, 1])
      let left = try await poll(within: .seconds(20)) { () -> Bool? in
        try Directory.entries(of: scene.exports.appending("job")).isEmpty ? true : nil
      }
      #expect(left == true, "an original was left")
      #expect(try await scene.broker.json("assets").elements.count == 2)
    }
  }

  @Test(
    "killed while it waits for its sidecar, a package is requested after the restart",
    .timeLimit(.minutes(2))
  )
  func killedWhileHeld() async throws {
    let text = Self.configuration("original = \"remove\"\nsidecar_wait = \"3s\"")
    try await Scene.run(text) { scene in
      try await Self.moveIn(scene, "job", [1, 2])
      let path = scene.exports.appending("job")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_sidecar" }
      #expect(try Self.imports(scene) == 2)
      await scene.broker.end(SIGKILL)
      try await scene.broker.start()
      let handoffs = try await scene.broker.wait("handoffs") { !$0.elements.isEmpty }
      #expect(handoffs.elements.map { Self.names($0).count } == [2])
      #expect(try Self.imports(scene) == 2)
    }
  }

  @Test(
    "a package that is held while its drop folder goes and returns is requested",
    .timeLimit(.minutes(2))
  )
  func folderReturns() async throws {
    try await Scene.run(Self.configuration("sidecar_wait = \"4s\"")) { scene in
      try await Self.moveIn(scene, "job", [1, 2])
      let path = scene.exports.appending("job")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_sidecar" }
      let away = scene.broker.root.appending("away")
      try DurableFile.rename(scene.exports, to: away)
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "offline" }
      try DurableFile.rename(away, to: scene.exports)
      let handoffs = try await scene.broker.wait("handoffs") { !$0.elements.isEmpty }
      #expect(handoffs.elements.map { Self.names($0).count } == [2])
    }
  }

  /// How many imports the log tells of.
  private static func imports(_ scene: Scene) throws -> Int {
    try scene.broker.wholeLog.split(separator: "\n").count { $0.contains("Imported an export") }
  }

  private static func expectNoOriginals(_ scene: Scene) async throws {
    let rest = try await poll(within: .seconds(20)) { () -> Bool? in
      let left = try (1...kills).flatMap { package in
        try Directory.entries(of: scene.exports.appending("job \(package)"))
      }
      return left.isEmpty ? true : nil
    }
    #expect(rest == true, "an original was left")
  }

  @Test(
    "a package with a sidecar: its title, its box, one receipt beside the directory",
    .timeLimit(.minutes(1))
  )
  func sidecar() async throws {
    let text = Self.configuration(
      "sync_publish_to = [\"social\"]",
      destination: """
        [destination.social]
        transport = "exec"
        command = ["/bin/true"]
        """
    )
    try await Scene.run(text) { scene in
      let path = scene.exports.appending("job")
      try DurableFile.write(
        Array("title = \"The job\"\nsync_publish = true\n".utf8),
        to: path.addingSuffix(".handoff.toml"),
        permissions: 0o644
      )
      try await Self.moveIn(scene, "job", [1, 2])
      let receipt = try await poll(within: .seconds(30)) { () -> JSONValue? in
        guard let file = try? FileDescriptor.open(path.addingSuffix(".handoff.json"), 0) else {
          return nil
        }
        let receipt = try WireCoder.decode(JSONValue.self, from: file.readAll(limit: 1 << 20))
        return receipt["destinations"]?["social"]?["state"]?.text == "published" ? receipt : nil
      }
      #expect(receipt?["local_identifiers"]?.elements.count == 2)
      #expect(receipt?["sync_publish"] == .bool(true))
      let handoffs = try await scene.broker.json("handoffs").elements
      #expect(handoffs.count == 2)
      #expect(handoffs.allSatisfy { $0["title"]?.text == "The job" })
      let inside = path.appending("1.mp4").addingSuffix(".handoff.json")
      #expect(try FileStatus.of(inside) == nil)
      // The sidecar is used up: a later start makes nothing of it, nor without it.
      await scene.broker.end(SIGKILL)
      try await scene.broker.start()
      try scene.write(try await Scene.video(3), to: "single.mp4")
      _ = try await scene.broker.wait("handoffs") { $0.elements.count >= 3 }
      #expect(try await scene.broker.json("handoffs").elements.count == 3)
    }
  }

  @Test("what comes later into a package is a request of its own", .timeLimit(.minutes(1)))
  func later() async throws {
    try await Scene.run(Self.configuration()) { scene in
      try await Self.moveIn(scene, "job", [1, 2])
      _ = try await scene.broker.wait("handoffs") { $0.elements.count == 1 }
      try scene.write(try await Scene.video(3), to: "job/3.mp4")
      let handoffs = try await scene.broker.wait("handoffs") { $0.elements.count == 2 }
      #expect(handoffs.elements.map { Self.names($0).count }.sorted() == [1, 2])
    }
  }

  @Test(
    "a member that a destination has had already is left out of the request, and that is said",
    .timeLimit(.minutes(1))
  )
  func leftOut() async throws {
    try await Scene.run(Self.configuration()) { scene in
      try await Self.moveIn(scene, "job1", [1, 2])
      _ = try await scene.broker.wait("handoffs") { $0.elements.count == 1 }
      try await Self.moveIn(scene, "job2", [1, 3])
      let handoffs = try await scene.broker.wait("handoffs") { $0.elements.count == 2 }
      #expect(handoffs.elements.map { Self.names($0).count }.sorted() == [1, 2])
      let first = handoffs.elements.first { Self.names($0).count == 2 }
      let id = first?["id"]?.text ?? ""
      let sentence = "its exports are one request to keep, without 1.mp4 (in \(id) already)"
      let path = scene.exports.appending("job2")
      let why = try await scene.broker.wait("why", path) { $0["state"]?.text == "imported" }
      #expect(why["reason"]?.text == sentence)
      let log = try scene.broker.wholeLog
      #expect(log.contains(sentence))
      try await Self.moveIn(scene, "job3", [1, 2])
      let nothing = try await scene.broker.wait("why", scene.exports.appending("job3")) {
        $0["state"]?.text == "imported"
      }
      #expect(nothing["reason"]?.text?.contains("nothing was left to order for keep") == true)
      await scene.broker.end(SIGKILL)
      try await scene.broker.start()
      let again = try await scene.broker.wait("why", path) { $0["state"]?.text == "imported" }
      #expect(again["reason"]?.text == sentence)
      let whole = try await scene.broker.wait("why", scene.exports.appending("job1")) {
        $0["state"]?.text == "imported"
      }
      #expect(whole["reason"]?.text == "its exports are one request")
    }
  }

  @Test(
    "a package that is too large for one request is imported and says why it has none",
    .timeLimit(.minutes(2))
  )
  func tooLarge() async throws {
    try await Scene.run(Self.configuration()) { scene in
      try await Self.moveIn(scene, "job", Array(1000..<1380))
      let path = scene.exports.appending("job")
      let why = try await scene.broker.wait("why", path, within: .seconds(90)) {
        $0["state"]?.text == "refused"
      }
      #expect(why["reason"]?.text?.contains("no request can hold its 380 exports") == true)
      #expect(try await scene.broker.json("assets").elements.count == 380)
      #expect(try await scene.broker.json("handoffs").elements.isEmpty)
      let status = try await scene.broker.json("status")
      let listed = status["candidates"]?.elements.first { $0["path"]?.text == path.lossyText }
      #expect(listed?["state"]?.text == "refused")
    }
  }

  @Test(
    "a destination that takes fewer refuses the package's request, and nothing is lost",
    .timeLimit(.minutes(1))
  )
  func tooMany() async throws {
    let text = Self.configuration(destination: "[destination.keep.constraints]\nmax_count = 1")
    try await Scene.run(text) { scene in
      try await Self.moveIn(scene, "job", [1, 2])
      let handoffs = try await scene.broker.wait("handoffs") {
        $0.elements.contains { $0["status"]?.text == "refused" }
      }
      #expect(handoffs.elements.first?["error"]?["code"]?.text == "count_out_of_range")
      #expect(try await scene.broker.json("assets").elements.count == 2)
    }
  }

  @Test("a person can take a refused member, and the package goes on", .timeLimit(.minutes(1)))
  func takenByHand() async throws {
    try await Scene.run(Self.configuration("give_up = \"1s\"")) { scene in
      try Directory.create(scene.exports.appending("job"))
      try scene.write(try await Scene.video(1), to: "job/1.mp4")
      let half = try await Scene.video(2)
      try scene.write(Array(half.prefix(half.count / 2)), to: "job/2.mp4")
      let path = scene.exports.appending("job/2.mp4")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "refused" }
      let waiting = try await scene.broker.json("why", scene.exports.appending("job/1.mp4"))
      #expect(waiting["state"]?.text == "waiting_package")
      #expect(waiting["reason"]?.text?.contains("2.mp4 is refused") == true)
      _ = try await scene.broker.json("import", "--accept-incomplete", path)
      let handoffs = try await scene.broker.wait("handoffs") { !$0.elements.isEmpty }
      #expect(handoffs.elements.map { Self.names($0).count } == [2])
    }
  }
}
