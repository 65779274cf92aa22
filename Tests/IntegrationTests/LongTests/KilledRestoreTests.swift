import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension LongTests {
  /// `handoff backup` and `handoff restore`, killed at their calls: all of them, or a sample.
  @Suite("Backup and restore, killed", .serialized)
  struct KilledRestore {
    /// Of the last points of a command, so many are a sample.
    private static let most = 1
    private static let last = 60

    @Test(
      "a restore killed anywhere leaves the old ledger or the new one, and the next one finishes",
      .timeLimit(.minutes(isLong ? 60 : 4)),
      arguments: ["the ledger", "an old copy of it"]
    )
    func restore(over what: String) async throws {
      try await Scene.withReceiver { scene in
        let killed = try await KilledCommand(scene)
        let backup = scene.broker.root.appending("backup")
        _ = try await scene.imported(1, as: "a.mp4")
        #expect(
          try await scene.broker.command(["backup", backup]).code == 0
        )
        await scene.broker.end(SIGTERM)
        try await scene.sh("cp -a state before")
        try await scene.broker.start()
        _ = try await scene.imported(2, as: "b.mp4")
        if what == "the ledger" {
          await scene.broker.end(SIGKILL)
          try await scene.sh("rm -r before && cp -a state before")
        } else {
          // The library has a mark of the second import.
          await scene.broker.end(SIGTERM)
        }
        try await scene.sh("cp library/ledger-mark.json mark")
        let lay = "rm -rf state && cp -a before state && cp mark library/ledger-mark.json"
        try await scene.sh(lay)
        let count = try await killed.run("restore backup", at: 0).passed
        let points = Self.sample(of: count)
        for point in points {
          try await scene.sh(lay)
          let hit = try await killed.run("restore backup", at: point).hit
          let isReady = try await scene.broker.launch()
          if isReady {
            // One that knows the second asset, whichever it is.
            #expect(
              try await scene.broker.json("assets").elements.count == 2,
              "\(what), \(String(describing: hit))"
            )
          }
          let end = await scene.broker.end(SIGTERM)
          #expect(end == .exited(isReady ? 0 : 1))
          try await Self.finish(scene, "\(what), \(String(describing: hit))")
        }
        print("restore over \(what), killed: \(points.count) of \(count) points, SEED=\(seed)")
        #expect(count > 40)
      }
    }

    /// The interrupted command is given again.
    private static func finish(_ scene: Scene, _ what: String) async throws {
      let (code, report) = try await scene.ask("restore", scene.broker.root.appending("backup"))
      #expect(code == 0, "\(what): \(report)")
      #expect(report["key"]?.text == "state_folder", "the key was lost: \(what)")
      try await scene.broker.start()
      for name in ["a.mp4", "b.mp4"] as [BytePath] {
        _ = try await scene.broker.wait("why", scene.exports.appending(name)) {
          $0["state"]?.text == "imported"
        }
      }
      #expect(try await scene.broker.json("assets").elements.count == 2, "\(what)")
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.allSatisfy { $0["finished_at"]?.text != nil }
      }
      #expect(try scene.received() == 2, "handed off again: \(what)")
      await scene.broker.end(SIGTERM)
    }

    @Test(
      "a backup killed anywhere is a whole one or none",
      .timeLimit(.minutes(isLong ? 30 : 4))
    )
    func backup() async throws {
      try await Scene.withReceiver { scene in
        let killed = try await KilledCommand(scene)
        _ = try await scene.imported(1, as: "a.mp4")
        let count = try await killed.run("backup whole --with-key", at: 0).passed
        // The last ones come after the manifest.
        let points = isLong ? Self.sample(of: count) : Self.sample(of: count - 20) + [count]
        for point in points {
          // The broker has something to do meanwhile.
          if point % 16 == 1 {
            let name = BytePath("clip-\(point).mp4")
            try scene.place(try await Scene.video(UInt64(point) + 1), as: name)
          }
          _ = try await killed.run("backup cut-\(point) --with-key", at: point)
        }
        await scene.broker.end(SIGTERM)
        let received = try scene.received()
        var whole = 0
        for point in points {
          let folder = scene.broker.root.appending("cut-\(point)")
          if try FileStatus.of(folder.appending("manifest.json")) == nil {
            #expect(try await scene.broker.command(["restore", folder]).code == 3, "\(point)")
            let again = try await scene.broker.command(["backup", folder])
            #expect(again.code == 0, "\(point): \(again.errors)")
          } else {
            whole += 1
          }
          let (code, report) = try await scene.ask("restore", folder)
          #expect(code == 0, "\(point): \(report)")
        }
        print("backup, killed: \(points.count) of \(count) points, \(whole) whole, SEED=\(seed)")
        #expect(whole > 0)
        #expect(whole < points.count)
        try await scene.broker.start()
        #expect(try scene.received() >= received)
      }
    }

    /// All points, or with `STRIDE` each so manieth; of the last ones, where files take their names, all.
    private static func sample(of count: Int) -> [Int] {
      guard isLong else {
        var random = SeededGenerator(seed: seed)
        return (max(1, count - last)...max(count, 1)).shuffled(using: &random).prefix(most).sorted()
      }
      let stride = environmentValue("STRIDE").flatMap { Int($0) } ?? 1
      return (1...max(count, 1)).filter { $0 % stride == 0 || $0 > count - last }
    }
  }
}

/// Commands of a scene's broker that are killed at one of their calls.
private struct KilledCommand {
  private let scene: Scene
  private let seam: FaultSeam

  init(_ scene: Scene) async throws {
    self.scene = scene
    seam = try await FaultSeam(in: scene.broker.root)
    try FaultSeam.arm(scene.broker.root)
  }

  /// Runs a command until its N-th point, or to its end.
  func run(_ words: String, at point: Int) async throws -> (passed: Int, hit: FaultSeam.Point?) {
    let root = scene.broker.root
    try DurableFile.unlink(root.appending("seam.log"))
    let settings = seam.environment("handoff", .kill(point), in: root)
      .map { "'\($0)'" }.joined(separator: " ")
    let line = "exec env \(settings) '\(RunningBroker.program)' \(words) --config handoff.toml"
    _ = await shell("cd '\(root)' && \(line) >> commands.log 2>&1")
    return try FaultSeam.points(in: root)
  }
}
