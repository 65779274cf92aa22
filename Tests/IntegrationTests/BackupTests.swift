import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A backup of the ledger, and what happens when it takes the ledger's place.
@Suite("Backup and restore", .timeLimit(.minutes(5)))
struct BackupTests {
  @Test("restored from the middle of a busy time: nothing is published twice, all is accounted for")
  func underLoad() async throws {
    try await Scene.run(Self.configuration) { scene in
      let backups = scene.broker.root.appending("backups")
      let count = 12
      // The broker works on them while the backups are made.
      for number in 1...count {
        try scene.place(try await Scene.video(UInt64(number)), as: Self.name(number))
      }
      var made: [JSONValue] = []
      var handed = 0
      while handed < count {
        made.append(try await scene.broker.json("backup", backups, "--dated"))
        handed = try Self.received(scene).count
      }
      // Killed while it may still record the last of them.
      await scene.broker.end(SIGKILL)
      for report in made {
        let path = BytePath(try report.text(of: "path"))
        let names = Set(try Directory.entries(of: path).map(\.name.lossyText))
        #expect(names == ["ledger.db", "ledger.head", "handoff.toml", "manifest.json"])
        #expect(
          await shell(
            "sqlite3 '\(path.lossyText)/ledger.db' 'PRAGMA integrity_check' | grep -qx ok"
          ) == 0
        )
      }
      // The one that has most in flight.
      let chosen = try #require(made.max { Self.open($0) < Self.open($1) })
      #expect(Self.open(chosen) > 0, "the backups saw no handoff that was open")
      for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.key", "ledger.head"] {
        try DurableFile.unlink(scene.ledger.parent.appending(BytePath(name)))
      }
      let refused = try await scene.broker.command(["serve"])
      #expect(refused.code == 1)
      #expect(refused.errors.contains("`handoff restore`"))
      let (code, report) = try await scene.ask("restore", BytePath(try chosen.text(of: "path")))
      #expect(code == 0)
      #expect(report["key"]?.text == "new")
      #expect(report["open_handoffs"]?.elements.count == Self.open(chosen))

      try await scene.broker.start()
      _ = try await scene.broker.wait("assets") { $0.elements.count == count }
      try scene.place(try await Scene.video(99), as: "new.mp4")
      try await scene.broker.waitForHandoff(of: "new.mp4", in: scene)
      let lines = try Self.received(scene)
      #expect(lines.count == count + 1, "\(lines)")
      #expect(Set(lines).count == lines.count, "published twice: \(lines)")
      let handoffs = try await scene.broker.json("handoffs").elements
      #expect(
        handoffs.allSatisfy { ["succeeded", "outcome_unknown"].contains($0["status"]?.text) }
      )
      let unknown = handoffs.count { $0["status"]?.text == "outcome_unknown" }
      #expect(unknown == Self.open(chosen))
      #expect(try await scene.broker.command(["restore", backups]).code == 75, "while it runs")
      #expect(try await scene.broker.command(["fsck"]).code == 0)
    }
  }

  @Test("a backup with the broker down, one into a folder with something in it, and one cut short")
  func folders() async throws {
    try await Scene.withReceiver { scene in
      _ = try await scene.imported(1, as: "clip.mp4")
      await scene.broker.end(SIGTERM)
      let target = scene.broker.root.appending("copy")
      let made = try await scene.broker.command(["backup", target, "--with-key"])
      #expect(made.code == 0, "\(made.errors)")
      #expect(made.errors.contains("the key is in it"))
      let key = try FileDescriptor.open(target.appending("ledger.key"), O_RDONLY)
      #expect(try key.status().permissions == 0o600)
      let again = try await scene.broker.command(["backup", target])
      #expect(again.code == 4)
      #expect(again.errors.contains("is not empty"))
      // What a killed one leaves is no backup, and makes room for the next.
      let cut = scene.broker.root.appending("cut")
      try Directory.create(cut.appending(".partial"))
      try DurableFile.write([1], to: cut.appending("ledger.db"))
      #expect(try await scene.broker.command(["restore", cut]).code == 3)
      #expect(try await scene.broker.command(["backup", cut]).code == 0)
      #expect(try FileStatus.of(cut.appending("ledger.key")) == nil)
      // A changed one is refused, and changes nothing.
      let before = try FileStatus.of(scene.ledger)
      try await scene.sh("printf x | dd of=cut/ledger.db bs=1 seek=9000 conv=notrunc 2> /dev/null")
      let changed = try await scene.broker.command(["restore", cut])
      #expect(changed.code == 1)
      #expect(changed.errors.contains("manifest"))
      #expect(try FileStatus.of(scene.ledger) == before)
      let (code, report) = try await scene.ask("restore", target)
      #expect(code == 0)
      #expect(report["key"]?.text == "state_folder")
      let former = BytePath(try report.text(of: "former_ledger"))
      #expect(try FileStatus.of(former.appending("ledger.db")) != nil)
      try await scene.broker.start()
      #expect(try scene.received() == 1)
    }
  }

  @Test("a whole state folder that was put back from an old copy is found out by the library")
  func oldState() async throws {
    try await Scene.withReceiver { scene in
      _ = try await scene.imported(1, as: "a.mp4")
      let backup = scene.broker.root.appending("backup")
      #expect(try await scene.broker.command(["backup", backup]).code == 0)
      await scene.broker.end(SIGTERM)
      try await scene.sh("cp -a state old")
      try await scene.broker.start()
      _ = try await scene.imported(2, as: "b.mp4")
      await scene.broker.end(SIGTERM)
      try await scene.sh("mv state lost && mv old state")
      for _ in 0..<2 {
        let refused = try await scene.broker.command(["serve"])
        #expect(refused.code == 1)
        #expect(refused.errors.contains("old copy"))
        #expect(refused.errors.contains("`handoff restore`"))
      }
      let (code, report) = try await scene.ask("restore", backup)
      #expect(code == 0)
      #expect(report["adopted"] == .integer(1))
      for _ in 0..<2 {
        try await scene.broker.start()
        await scene.broker.end(SIGTERM)
      }
      #expect(try await scene.broker.json("assets").elements.count == 2)
      #expect(try scene.received() == 2)
    }
  }

  private static func open(_ report: JSONValue) -> Int {
    guard case .integer(let count) = report["manifest"]?["open_handoffs"] else { return 0 }
    return Int(count)
  }

  private static func name(_ number: Int) -> BytePath { BytePath("clip-\(number).mp4") }

  /// The names of the exports that the receiver has had, each time that it had one.
  static func received(_ scene: Scene) throws -> [String] {
    let path = scene.broker.root.appending("received")
    guard try FileStatus.of(path) != nil else { return [] }
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private static let configuration = Scene.configuration(
    handoff: ["script"],
    destinations: """
      [destination.script]
      transport = "exec"
      command = ["/bin/sh", "-c", "basename $HANDOFF_ASSET_1 >> ../../../received; sleep 0.1"]
      containment = "none"
      concurrency = 2
      """
  )
}

extension RunningBroker {
  /// Waits until the handoff of an export has succeeded.
  fileprivate func waitForHandoff(of name: BytePath, in scene: Scene) async throws {
    let why = try await wait("why", scene.exports.appending(name)) {
      $0["state"]?.text == "imported"
    }
    let identifier = try why.text(of: "local_identifier")
    _ = try await wait("handoffs") { handoffs in
      handoffs.elements.contains { handoff in
        handoff["local_identifiers"]?.elements == [.string(identifier)]
          && handoff["status"]?.text == "succeeded"
      }
    }
  }
}
