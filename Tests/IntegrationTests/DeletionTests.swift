import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Assets that are deleted, by a person or by their age, and content that comes back.
@Suite("Deleted assets")
struct DeletionTests {
  @Test(
    "an asset with open handoffs is pinned; by force, what was not sent ends as asset_deleted",
    .timeLimit(.minutes(2))
  )
  func pinned() async throws {
    let text = Scene.configuration(handoff: ["slow"], destinations: Scene.held)
    try await Scene.run(text) { scene in
      let gate = try Gate("slow", scene)
      try scene.write(try await Scene.video(1), to: "first.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "submitted"
      }
      let first = try await scene.identifier(of: "first.mp4")
      try scene.write(try await Scene.video(2), to: "second.mp4")
      let second = try await scene.identifier(of: "second.mp4")

      let refused = try await scene.broker.command(["delete", BytePath(second)])
      #expect(refused.code == 4)
      #expect(refused.errors.contains("h2"), "\(refused.errors)")
      #expect(try await scene.status(second) == "present")

      for identifier in [first, second] {
        let sha256 = try await scene.asset(identifier).text(of: "sha256")
        let report = try await scene.broker.json("delete", BytePath(identifier), "--force")
        #expect(report["bytes_gone"] == .bool(true))
        #expect(report["ended"]?.elements == (identifier == second ? [.string("h2")] : []))
        #expect(report["open"]?.elements == (identifier == first ? [.string("h1")] : []))
        #expect(try await scene.status(identifier) == "deleted")
        #expect(try !scene.hasObject(sha256))
        #expect(try scene.record(sha256)["status"]?.text == "deleted")
      }
      let grants = scene.broker.root.appending("library/grants/slow")
      #expect(try Directory.entries(of: grants).isEmpty)
      let ended = try await scene.broker.json("show", "h2")
      #expect(ended["status"]?.text == "refused")
      #expect(ended["error"]?["code"]?.text == "asset_deleted")
      // What the receiver had in hand still counts as it says.
      try gate.pass()
      _ = try await scene.broker.wait("show", "h1") { $0["status"]?.text == "succeeded" }
      let again = try await scene.broker.command(["send", BytePath(first), "--to", "quick"])
      #expect(again.code == 4)
    }
  }

  @Test(
    "deleted content that comes back is the same asset, present, and hands nothing off by itself",
    .timeLimit(.minutes(2)),
    arguments: ["dropped", "by hand"]
  )
  func revived(way: String) async throws {
    let text = Scene.configuration(handoff: ["quick"], destinations: Scene.held)
    try await Scene.run(text) { scene in
      let bytes = try await Scene.video(3)
      try scene.write(bytes, to: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "succeeded"
      }
      let identifier = try await scene.identifier(of: "cut.mp4")
      #expect(try await scene.broker.command(["delete", BytePath(identifier)]).code == 0)
      // An unchanged original is no return: not at the next start either.
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      #expect(try await scene.status(identifier) == "deleted")

      if way == "dropped" {
        // A second destination that never got it is not given it either.
        try DurableFile.write(
          Array(Scene.configuration(handoff: ["quick", "slow"], destinations: Scene.held).utf8),
          to: scene.broker.config
        )
        await scene.broker.end(SIGTERM)
        try await scene.broker.start()
        try scene.write(bytes, to: "again.mp4")
        #expect(try await scene.identifier(of: "again.mp4") == identifier)
      } else {
        let file = scene.broker.root.appending("elsewhere.mp4")
        try DurableFile.write(bytes, to: file)
        let ended = try await scene.broker.command(["import", file])
        #expect(ended.code == 0)
        #expect(ended.output == Array("\(identifier)\n".utf8))
      }
      let asset = try await scene.asset(identifier)
      #expect(asset["status"]?.text == "present")
      #expect(asset["sources"]?.elements.count == 2)
      #expect(try scene.hasObject(try asset.text(of: "sha256")))
      let record = try scene.record(try asset.text(of: "sha256"))
      #expect(record["status"]?.text == "present")
      #expect(record["sources"]?.elements.count == 2)
      #expect(record["imported_at"] == asset["imported_at"])
      #expect(try await scene.broker.json("handoffs").elements.count == 1)
      #expect(try await scene.events(identifier).contains("revived"))
    }
  }

  @Test(
    "killed between the ledger's commit and the end of the bytes, the next start removes them",
    .timeLimit(.minutes(2)),
    arguments: ["library.write", "library.remove", "library.sync-folder"]
  )
  func killed(point: String) async throws {
    try await withTemporaryDirectory { root in
      let text = Scene.configuration()
      var scene = Scene(broker: try RunningBroker(root: root, configuration: text))
      try await scene.broker.start()
      try scene.write(try await Scene.video(4), to: "cut.mp4")
      let identifier = try await scene.identifier(of: "cut.mp4")
      let sha256 = try await scene.asset(identifier).text(of: "sha256")
      await scene.broker.end(SIGTERM)

      let fault = ["HANDOFF_FAULT=\(point):1:kill"]
      scene = Scene(
        broker: try RunningBroker(root: root, configuration: text, environment: fault)
      )
      try await scene.broker.start()
      #expect(try await scene.broker.command(["delete", BytePath(identifier)]).code == 75)
      await scene.broker.end(SIGKILL)
      #expect(try await scene.status(identifier) == "deleted")

      scene = Scene(broker: try RunningBroker(root: root, configuration: text))
      try await scene.broker.start()
      let gone = try await poll { try scene.hasObject(sha256) ? nil : true }
      #expect(gone == true)
      _ = try await scene.broker.wait("history", BytePath(identifier)) {
        $0.elements.last?["event"]?.text == "bytes_removed"
      }
      #expect(try scene.record(sha256)["status"]?.text == "deleted")
      await scene.broker.end(SIGTERM)
    }
  }

  @Test(
    "while the library is away a deletion waits for its bytes, and loses none of them before",
    .timeLimit(.minutes(1))
  )
  func libraryAway() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      try scene.write(try await Scene.video(8), to: "cut.mp4")
      let identifier = try await scene.identifier(of: "cut.mp4")
      let sha256 = try await scene.asset(identifier).text(of: "sha256")
      let library = scene.broker.root.appending("library")
      let away = scene.broker.root.appending("away")
      try DurableFile.rename(library, to: away)
      let report = try await scene.broker.json("delete", BytePath(identifier))
      #expect(report["bytes_gone"] == .bool(false))
      #expect(try await scene.status(identifier) == "deleted")
      try DurableFile.rename(away, to: library)
      #expect(try scene.hasObject(sha256))
      #expect(try await poll { try scene.hasObject(sha256) ? nil : true } == true)
    }
  }

  @Test(
    "deleted again and again while its content comes back, an asset has bytes if it is present",
    .timeLimit(.minutes(2))
  )
  func race() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let bytes = try await Scene.video(9)
      try scene.write(bytes, to: "start.mp4")
      let identifier = try await scene.identifier(of: "start.mp4")
      let sha256 = try await scene.asset(identifier).text(of: "sha256")
      let file = scene.broker.root.appending("by hand.mp4")
      try DurableFile.write(bytes, to: file)
      for round in 1...12 {
        async let deleted = scene.broker.command(["delete", BytePath(identifier), "--force"])
        async let imported = scene.broker.command(["import", file])
        try scene.write(bytes, to: BytePath("\(round).mp4"))
        #expect(try await deleted.code == 0)
        // A deletion in its middle gives the import up; it is to be made again then.
        #expect([0, 1].contains(try await imported.code))
        #expect(try await scene.identifier(of: BytePath("\(round).mp4")) == identifier)
        // Nothing is under way now.
        let isPresent = try await scene.status(identifier) == "present"
        #expect(try scene.hasObject(sha256) == isPresent, "round \(round)")
        let record = try scene.record(sha256)
        #expect(record["status"]?.text == (isPresent ? "present" : "deleted"), "round \(round)")
      }
    }
  }

  @Test("an asset that nobody has needed for the retention is deleted", .timeLimit(.minutes(2)))
  func retention() async throws {
    let text = Scene.configuration(handoff: ["slow"], destinations: Scene.held)
      .replacing("path = \"library\"", with: "path = \"library\"\nretention = \"1h\"")
    try await Scene.run(text) { scene in
      _ = try Gate("slow", scene)
      try scene.write(try await Scene.video(5), to: "pinned.mp4")
      let pinned = try await scene.identifier(of: "pinned.mp4")
      let old = scene.broker.root.appending("old.mp4")
      let new = scene.broker.root.appending("new.mp4")
      try DurableFile.write(try await Scene.video(6), to: old)
      try DurableFile.write(try await Scene.video(7), to: new)
      let imported = try await scene.broker.json("import", old, new)
      let identifiers = try imported.elements.map { try $0.text(of: "local_identifier") }
      await scene.broker.end(SIGKILL)
      // Two hours pass, for all but the newest.
      let database = scene.broker.root.appending("state/ledger.db").lossyText
      let aged = await shell(
        """
        sqlite3 '\(database)' "UPDATE assets SET used_at = used_at - 7200000 \
        WHERE identifier <> '\(identifiers[1])'"
        """
      )
      #expect(aged == 0)
      try await scene.broker.start()
      let gone = try await scene.broker.wait("show", BytePath(identifiers[0])) {
        $0["status"]?.text == "deleted"
      }
      let sha256 = try gone.text(of: "sha256")
      #expect(try await poll { try scene.hasObject(sha256) ? nil : true } == true)
      #expect(try await scene.status(identifiers[1]) == "present")
      #expect(try await scene.status(pinned) == "present")
    }
  }

  @Test(
    "the age of an asset does not count while its original waits, and counts once that is removed",
    .timeLimit(.minutes(2))
  )
  func waitingOriginal() async throws {
    let text = Scene.configuration(
      folder: "original = \"remove\"\noriginal_when = \"handed_off\"",
      handoff: ["slow"],
      destinations: Scene.held
    ).replacing("path = \"library\"", with: "path = \"library\"\nretention = \"1h\"")
    try await Scene.run(text) { scene in
      try scene.write(try await Scene.video(10), to: "cut.mp4")
      let identifier = try await scene.identifier(of: "cut.mp4")
      _ = try await scene.broker.json("cancel", "h1")
      await scene.broker.end(SIGKILL)
      let database = scene.broker.root.appending("state/ledger.db").lossyText
      let aged = await shell(
        """
        sqlite3 '\(database)' "UPDATE assets SET used_at = used_at - 7200000; \
        UPDATE handoffs SET finished_at = finished_at - 7200000"
        """
      )
      #expect(aged == 0)
      try await scene.broker.start()
      try scene.write(try await Scene.video(11), to: "other.mp4")
      _ = try await scene.identifier(of: "other.mp4")
      #expect(try await scene.status(identifier) == "present")
      await scene.broker.end(SIGKILL)
      unlink(scene.exports.appending("cut.mp4").nulTerminated)
      try await scene.broker.start()
      _ = try await scene.broker.wait("show", BytePath(identifier)) {
        $0["status"]?.text == "deleted"
      }
    }
  }
}
