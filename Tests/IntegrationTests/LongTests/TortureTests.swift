import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension LongTests {
  /// Randomised writers, and a broker that is stopped and killed at random moments.
  @Suite("Torture")
  struct Torture {
    /// How much is done.
    private struct Size {
      var writers: Int
      var concurrency: Int
      /// In milliseconds.
      var stall: Int
      /// Lines of truth between two disturbances, at most.
      var rest: Int
    }

    private static let size =
      isLong
      ? Size(writers: 1000, concurrency: 64, stall: 30_000, rest: 120)
      : Size(writers: 72, concurrency: 24, stall: 2_000, rest: 25)

    @Test(
      "nothing is imported before it is whole, nothing is lost, nothing is done twice",
      .timeLimit(.minutes(isLong ? 45 : 5))
    )
    func torture() async throws {
      let seed = LongTests.seed
      print("torture: seed \(seed)")
      try await Scene.run(Self.configuration, starting: false) { scene in
        let root = scene.broker.root
        for folder in ["taken", "moved", "done", "out", "scratch"] {
          try Directory.create(root.appending(folder))
        }
        let script = try scene.script("record", Self.recording)
        let whole = Self.configuration + Self.exec(script, root.appending("out/script.log"))
        try DurableFile.write(Array(whole.utf8), to: scene.broker.config)
        try await scene.broker.start()
        let writers = try await Self.startWriters(scene, seed)
        let disturbances = try await Self.disturb(scene, seed, until: writers)
        try await Self.judge(scene, seed, disturbances)
      }
    }

    // MARK: The writers

    private static func startWriters(_ scene: Scene, _ seed: UInt64) async throws -> WatchedProcess
    {
      let root = scene.broker.root
      let folders = ["exports", "taken", "moved"].map { root.appending($0).lossyText }
      var command = ProcessCommand(
        try productsFolder().appending("export-writer"),
        arguments: [
          "seed=\(seed)", "writers=\(size.writers)", "concurrency=\(size.concurrency)",
          "folders=\(folders.joined(separator: ":"))",
          "scratch=\(root.appending("scratch").lossyText)",
          "truth=\(root.appending("truth.tsv").lossyText)",
          "program=\(RunningBroker.program.lossyText)",
          "configuration=\(scene.broker.config.lossyText)", "quiet=300", "stall=\(size.stall)",
        ].map { BytePath($0) },
        environment: [BytePath("PATH=\(environmentValue("PATH") ?? "/usr/bin:/bin")")]
      )
      command.descriptors[2] = try FileDescriptor.open(
        root.appending("writers.log"),
        O_WRONLY | O_CREAT
      )
      return WatchedProcess(try await SpawnedProcess.spawn(command))
    }

    // MARK: Disturbances

    /// Stops and kills the broker at moments of the writers' own time, until they have ended.
    private static func disturb(
      _ scene: Scene,
      _ seed: UInt64,
      until writers: WatchedProcess
    ) async throws -> (stops: Int, kills: Int) {
      var random = SeededGenerator(seed: seed)
      var (stops, kills) = (0, 0)
      while !writers.hasEnded {
        try await untilTruthGrows(scene, Int.random(in: 5...size.rest, using: &random), writers)
        if Bool.random(using: &random) {
          await scene.broker.end(SIGKILL)
          kills += 1
        } else {
          #expect(await scene.broker.end(SIGTERM) == .exited(0), "seed \(seed)")
          stops += 1
        }
        // What happens meanwhile is found by the listing at the start.
        if Bool.random(using: &random) { try await untilTruthGrows(scene, 5, writers) }
        try await scene.broker.start()
      }
      let log = try FileDescriptor.open(scene.broker.root.appending("writers.log"), O_RDONLY)
      let said = String(decoding: try log.readAll(limit: 1 << 20), as: UTF8.self)
      try #require(await writers.exit() == .exited(0), "the writers: \(said)")
      return (stops, kills)
    }

    private static func untilTruthGrows(
      _ scene: Scene,
      _ lines: Int,
      _ writers: WatchedProcess
    ) async throws {
      let truth = scene.broker.root.appending("truth.tsv")
      let start = try FileStatus.of(truth)?.size ?? 0
      // A line has about 200 bytes.
      _ = try await poll(within: .seconds(20), every: .milliseconds(10)) {
        let grown = try FileStatus.of(truth)?.size ?? 0 >= start + Int64(lines * 200)
        return grown || writers.hasEnded ? true : nil
      }
    }

    // MARK: The end

    static func judge(
      _ scene: Scene,
      _ seed: UInt64,
      _ disturbances: (stops: Int, kills: Int)
    ) async throws {
      let truth = try TruthLog(scene.broker.root.appending("truth.tsv"))
      let assets = try await finalAssets(scene, truth)
      var verdict = TortureVerdict(truth, assets: assets, keeping: scene.exports)
      let handoffs = try await settledHandoffs(scene)
      verdict.check(
        handoffs: handoffs,
        destinations: ["asked", "script"],
        delivered: try delivered(scene)
      )
      try await checkObjects(scene, assets, &verdict)
      let unprovable = try await checkRest(scene, truth, &verdict)
      for fault in verdict.faults {
        Issue.record("seed \(seed): \(fault.sentence): \(fault.path)\(try await why(fault, scene))")
      }
      if !verdict.faults.isEmpty { print("the broker's log ends so: \(try scene.broker.tail())") }
      print(
        """
        torture: seed \(seed), \(truth.ready.count + truth.never.count + truth.unprovable.count) \
        exports (\(truth.required.count) must be imported, \(truth.never.count) never whole, \
        \(truth.unprovable.count) halves without an end mark), \(verdict.assets) assets, \
        \(handoffs.elements.count) handoffs, \(disturbances.stops) stops, \
        \(disturbances.kills) kills, \(verdict.faults.count) faults
        halves without an end mark: \(verdict.unprovableTaken) taken; \(unprovable)
        """
      )
    }

    /// What is in the library when nothing is under way any more.
    private static func finalAssets(_ scene: Scene, _ truth: TruthLog) async throws -> JSONValue {
      var last = JSONValue.null
      _ = try await poll(within: .seconds(120), every: .seconds(1)) { () -> Bool? in
        last = try await scene.broker.json("assets")
        return TortureVerdict.isComplete(truth, last, keeping: scene.exports) ? true : nil
      }
      _ = try await scene.broker.wait("status", "--all", within: .seconds(60)) { status in
        let settled: Set<String> = ["imported", "ignored", "refused", "incomplete"]
        return (status["candidates"]?.elements ?? [])
          .allSatisfy { settled.contains($0["state"]?.text ?? "") }
      }
      return try await scene.broker.json("assets")
    }

    private static func settledHandoffs(_ scene: Scene) async throws -> JSONValue {
      let settled: Set<String> = ["succeeded", "outcome_unknown"]
      return try await scene.broker.wait("handoffs", within: .seconds(180)) { handoffs in
        handoffs.elements.allSatisfy {
          settled.contains($0["status"]?.text ?? "")
            || $0["waiting"]?["reason"]?.text == "superseded"
        }
      }
    }

    private static func delivered(_ scene: Scene) throws -> [String: [Substring]] {
      var delivered: [String: [Substring]] = [:]
      for destination in ["asked", "script"] {
        let path = scene.broker.root.appending("out/\(destination).log")
        let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 26)
        delivered[destination] = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      }
      return delivered
    }

    /// Appends the identifier of each request: the receiver's own record of what it did.
    private static let recording = """
      sed -n 's/.*"local_identifiers":\\["\\([^"]*\\)".*/\\1/p' | tr -d '\\\\' >> "$1"
      """

    private static func exec(_ script: String, _ log: BytePath) -> String {
      """

      [destination.script]
      transport = "exec"
      command = ["\(script)", "\(log)"]
      write = ["out"]
      containment = "none"
      """
    }

    private static let configuration = """
      [broker]
      state = "state"
      listen = ""
      crash_limit = 0

      [library]
      path = "library"
      reserve = "1%"

      [[drop_folder]]
      path = "exports"
      quiet = "300ms"
      give_up = "20s"
      handoff = ["asked", "script"]

      [[drop_folder]]
      path = "taken"
      quiet = "300ms"
      give_up = "20s"
      original = "remove"
      handoff = ["asked", "script"]

      [[drop_folder]]
      path = "moved"
      quiet = "300ms"
      give_up = "20s"
      original = "move"
      move_to = "done"
      handoff = ["asked", "script"]

      [destination.asked]
      transport = "plugin"
      command = ["counting-receiver"]
      write = ["out"]
      containment = "none"
      [destination.asked.settings]
      log = "./out/asked.log"
      """
  }
}
