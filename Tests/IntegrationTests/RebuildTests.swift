import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The ledger's assets again from the library alone.
@Suite("Rebuilding the ledger", .timeLimit(.minutes(5)))
struct RebuildTests {
  @Test("a lost ledger is made again, and hands nothing off that may have been")
  func rebuild() async throws {
    try await Scene.withReceiver { scene in
      let waiting = try await Self.history(scene)
      let before = try await scene.ask("assets").document
      await scene.broker.end(SIGTERM)
      // Exports that the lost ledger may or may not have known.
      try scene.write(try await Scene.video(50), to: "unknown.mp4")
      #expect(try await scene.broker.command(["rebuild"]).code == 4, "a sound ledger stays")
      for name in ["ledger.db", "ledger.key", "ledger.head"] {
        try #require(unlink(scene.ledger.parent.appending(BytePath(name)).nulTerminated) == 0)
      }
      let (code, report) = try await scene.ask("rebuild", "--verify")
      #expect(code == 0)
      #expect(report["assets"] == .integer(4))
      #expect(report["damaged"] == .integer(0))
      #expect(try Self.comparable(await scene.ask("assets").document) == Self.comparable(before))
      let received = try scene.received()

      try await scene.broker.start()
      _ = try await scene.broker.wait("assets") { $0.elements.count == 5 }
      // Content that was handed off once comes again under another name.
      try scene.write(try await Scene.video(1), to: "copied.mp4")
      let path = scene.exports.appending("copied.mp4").lossyText
      _ = try await scene.broker.wait("assets") { $0.elements.contains { $0.names(path) } }
      #expect(try await scene.ask("handoffs").document.elements.isEmpty)
      let held = try await scene.ask("status").document["library"]?["handoffs_held_before"]
      #expect(held?.text == report["rebuilt_at"]?.text)
      // What is new is handed off, under a number that the lost ledger cannot have had.
      _ = try await scene.imported(60, as: "new.mp4")
      #expect(try scene.received() == received + 1)
      let id = try await scene.ask("handoffs").document.elements.first?["id"]?.text ?? ""
      #expect((Int(id.dropFirst()) ?? 0) > 1_000_000)

      #expect(try await scene.broker.command(["rebuild", "--resume-handoffs"]).code == 0)
      try DurableFile.rename(waiting, to: scene.exports.appending("waited.mp4"))
      // The new one, the unknown one that was held, and the one that waited.
      _ = try await scene.broker.wait("handoffs") { $0.elements.count == 3 }
      #expect(try await scene.broker.command(["fsck"]).code == 0)
      #expect(try await scene.broker.command(["rebuild"]).code == 75, "while the broker runs")
    }
  }

  /// Two exports, one of which took the other's path, a second name, an import by hand; and a video that
  /// waits outside.
  private static func history(_ scene: Scene) async throws -> BytePath {
    _ = try await scene.imported(1, as: "clip.mp4")
    _ = try await scene.imported(2, as: "clip.mp4")
    _ = try await scene.imported(3, as: "other.mp4")
    _ = try await scene.imported(3, as: "second name.mp4")
    let outside = scene.broker.root.appending("outside.mp4")
    try DurableFile.write(try await Scene.video(4), to: outside)
    _ = try await scene.broker.json("import", outside)
    let waiting = scene.broker.root.appending("waiting.mp4")
    try DurableFile.write(try await Scene.video(5), to: waiting)
    return waiting
  }

  /// What a rebuild brings back, in an order of its own.
  private static func comparable(_ assets: JSONValue) -> [String] {
    assets.elements.map { asset in
      let paths = asset["sources"]?.elements.compactMap { $0["path"]?.text }.sorted() ?? []
      return
        "\(asset["local_identifier"]?.text ?? "") \(asset["status"]?.text ?? "") \(paths) "
        + "\(asset["supersedes"]?.text ?? "-") \(asset["superseded_by"]?.text ?? "-") "
        + "\(asset["imported_at"]?.text ?? "")"
    }.sorted()
  }

  @Test("an old ledger is moved aside, its open handoffs are named, and --force is needed")
  func aside() async throws {
    try await Scene.withReceiver { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      let identifier = BytePath(try #require(asset["local_identifier"]?.text))
      let later = BytePath("2099-01-01T00:00:00Z")
      let sent = try await scene.broker.json(
        "send",
        identifier,
        "--to",
        "script",
        "--again",
        "--publish-at",
        later
      )
      await scene.broker.end(SIGTERM)
      let (code, report) = try await scene.ask("rebuild", "--force")
      #expect(code == 0)
      #expect(
        report["open_handoffs"]?.elements.map { $0["id"]?.text } == [
          sent.elements.first?["id"]?.text
        ]
      )
      let former = BytePath(try #require(report["former_ledger"]?.text))
      let names = try Directory.entries(of: former).map(\.name.lossyText).sorted()
      #expect(Set(names).isSuperset(of: ["ledger.db", "ledger.head", "ledger.key"]))
      let carried = try #require(try await scene.ask("handoffs").document.elements.first)
      #expect(carried["id"] == sent.elements.first?["id"])
      #expect(carried["status"]?.text == "outcome_unknown")
      // It stands in `status` and is a person's to decide.
      try await scene.broker.start()
      let id = try #require(carried["id"]?.text)
      let needsPerson = try await scene.ask("status").document["needs_person"]?.elements
      #expect(needsPerson?.map { $0["id"]?.text } == [id])
      #expect(try await scene.broker.command(["cancel", BytePath(id)]).code == 5)
      // The numbers go on after the former ones.
      let next = try await scene.broker.json("send", identifier, "--to", "script", "--again")
      #expect(
        Int(next.elements.first?["id"]?.text?.dropFirst() ?? "") == (Int(id.dropFirst()) ?? 0) + 1
      )
    }
  }

  @Test("killed at any step, a rebuild leaves a ledger with everything or a broker that refuses")
  func killed() async throws {
    try await Scene.withReceiver { scene in
      _ = try await scene.imported(1, as: "clip.mp4")
      let handoffs = try await scene.ask("handoffs").document.elements.count
      var passed = false
      await scene.broker.end(SIGTERM)
      var refusals = 0
      for step in 1...80 where !passed {
        passed = try await Self.rebuild(scene, fault: "*:\(step):kill") == .exited(0)
        if try await !Self.starts(scene) {
          refusals += 1
          #expect(try await Self.rebuild(scene, fault: nil) == .exited(0), "step \(step)")
          #expect(try await Self.starts(scene), "step \(step)")
        }
        #expect(try await scene.ask("assets").document.elements.count == 1, "step \(step)")
      }
      #expect(refusals > 0, "the walk has passed through the exchange")
      #expect(passed)
      #expect(try scene.received() == handoffs, "nothing was handed off again")
    }
  }

  private static func rebuild(
    _ scene: Scene,
    fault: String?
  ) async throws -> LinuxSystem.ExitStatus {
    var command = ProcessCommand(
      RunningBroker.program,
      arguments: ["rebuild", "--force", "--config", scene.broker.config],
      environment: fault.map { [BytePath("HANDOFF_FAULT=\($0)")] } ?? []
    )
    command.environment.append("PATH=/usr/bin:/bin")
    return await (try await SpawnedProcess.spawn(command)).exit()
  }

  /// Whether a broker starts; it is ended again.
  private static func starts(_ scene: Scene) async throws -> Bool {
    let said = scene.broker.root.appending("said")
    let output = try FileDescriptor.open(said, O_WRONLY | O_CREAT | O_TRUNC)
    let errors = try FileDescriptor.open(scene.broker.log, O_WRONLY | O_CREAT | O_TRUNC)
    var command = ProcessCommand(
      RunningBroker.program,
      arguments: ["serve", "--config", scene.broker.config],
      environment: ["PATH=/usr/bin:/bin"]
    )
    command.descriptors = [1: output, 2: errors]
    let process = try await SpawnedProcess.spawn(command)
    let isReady = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        _ = await process.exit()
        return false
      }
      group.addTask {
        try await poll { try FileStatus.of(said)?.size == 6 ? true : nil } ?? false
      }
      let first = try await group.next() ?? false
      group.cancelAll()
      if first { process.signalGroup(SIGTERM) }
      return first
    }
    _ = await process.exit()
    let log = try scene.broker.tail()
    #expect(isReady || log.contains("state/ledger.db: the ledger is "), "it says why: \(log)")
    return isReady
  }
}
