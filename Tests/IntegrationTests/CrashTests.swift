import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// `kill -9` during imports and handoffs (CASES 16, 31, 43, 44).
@Suite("Crashes of the broker")
struct CrashTests {
  private static let kills = 20
  private static let files = 50

  @Test(
    "killed at twenty random moments, every file is one asset and no work is done twice",
    .timeLimit(.minutes(5)),
    arguments: [UInt64(20_261_130)]
  )
  func twentyKills(seed: UInt64) async throws {
    var random = SeededGenerator(seed: environmentValue("SEED").flatMap { UInt64($0) } ?? seed)
    try await Scene.run(Self.configuration, starting: false) { scene in
      try Directory.create(scene.broker.root.appending("out"))
      let log = scene.broker.root.appending("out/script.log")
      let script = try scene.script("record", Self.recording)
      try DurableFile.write(
        Array(Self.configuration.utf8) + Array(Self.exec(script, log).utf8),
        to: scene.broker.config
      )
      try await scene.broker.start()
      var written = 0
      for kill in 1...Self.kills {
        while written < Self.files * kill / Self.kills {
          try scene.write(
            try await Scene.video(UInt64(written)),
            to: BytePath("clip \(written).mp4")
          )
          written += 1
        }
        try await Self.untilLogGrows(scene, by: Int.random(in: 0...4000, using: &random))
        await scene.broker.end(SIGKILL)
        try await scene.broker.start()
      }
      try await Self.check(scene)
    }
  }

  private static func check(_ scene: Scene) async throws {
    let settled: Set<String> = ["succeeded", "outcome_unknown"]
    let handoffs = try await scene.broker.wait("handoffs", within: .seconds(90)) { handoffs in
      handoffs.elements.count == 2 * files
        && handoffs.elements.allSatisfy { settled.contains($0["status"]?.text ?? "") }
    }
    let assets = try await scene.broker.json("assets")
    #expect(assets.elements.count == files)
    let byDestination = Dictionary(grouping: handoffs.elements) { $0["destination"]?.text ?? "" }
    // A receiver that can be asked leaves nothing unknown; one that cannot, never a false success.
    #expect(byDestination["asked"]?.allSatisfy { $0["status"]?.text == "succeeded" } == true)
    for destination in ["asked", "script"] {
      let done = try lines(scene.broker.root.appending("out/\(destination).log"))
      #expect(Set(done).count == done.count, "work of \(destination) done twice")
      let succeeded = byDestination[destination]?.count { $0["status"]?.text == "succeeded" } ?? 0
      #expect(succeeded <= done.count, "a success of \(destination) that did not happen")
    }
    let unknown = byDestination["script"]?.count { $0["status"]?.text == "outcome_unknown" } ?? 0
    print("\(kills) kills, \(files) files, \(unknown) outcomes unknown at the exec receiver")
  }

  private static func lines(_ path: BytePath) throws -> [Substring] {
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  /// A moment of the broker's own time: when its log has grown so much, or after a second without growth.
  private static func untilLogGrows(_ scene: Scene, by bytes: Int) async throws {
    let start = try FileStatus.of(scene.broker.log)?.size ?? 0
    _ = try await poll(within: .seconds(1), every: .milliseconds(2)) {
      try FileStatus.of(scene.broker.log)?.size ?? 0 >= start + Int64(bytes) ? true : nil
    }
  }

  /// Appends the state token of each request: the receiver's own record of what it did.
  private static let recording = """
    sed -n 's/.*"state":"\\([^"]*\\)".*/\\1/p' >> "$1"
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

  // So many kills on purpose are no file's fault.
  private static let configuration = Scene.configuration(
    broker: "crash_limit = 0",
    handoff: ["asked", "script"],
    destinations: """
      [destination.asked]
      transport = "plugin"
      command = ["counting-receiver"]
      write = ["out"]
      [destination.asked.settings]
      log = "./out/asked.log"
      """
  )
}
