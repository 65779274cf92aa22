import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// One broker for each state folder.
@Suite("Cases: one broker", .timeLimit(.minutes(5)))
struct LockCases {
  @Test(
    "Case 97: of two that start at once one runs, by any path, and a kill hinders no next start"
  )
  func two() async throws {
    let isLong = environmentValue("HANDOFF_LONG") != nil
    try await Scene.run(Self.configuration, starting: false) { scene in
      // The same state folder by another path, from a configuration of its own.
      try await scene.sh("mkdir -p state exports && ln -s state link")
      try await scene.sh("sed 's|\"state\"|\"link\"|' handoff.toml > linked.toml")
      // What a lock by number would take for a broker that runs.
      try await scene.sh("echo $$ > state/broker.lock; echo 1 > state/broker.pid")
      let configs = [scene.broker.config, scene.broker.root.appending("linked.toml")]
      for round in 0..<(isLong ? 100 : 6) {
        let first = try await Contender(configs[0], scene, "first")
        let second = try await Contender(configs[round % 2], scene, "second")
        let ends = [try await first.outcome(), try await second.outcome()]
        #expect(ends.sorted() == ["75", "ready"], "round \(round): \(ends)")
        let loser = ends[0] == "ready" ? second : first
        #expect(try loser.said.contains("another broker runs on"), "round \(round)")
        let winner = ends[0] == "ready" ? first : second
        if round == 0 {
          // Its receiver outlives it.
          try scene.place(try await Scene.video(1), as: "a.mp4")
          let isThere = try await poll { try scene.received() == 1 ? true : nil }
          #expect(isThere == true)
        }
        _ = await winner.end(SIGKILL)
      }
      try await scene.broker.start()
      let handoffs = try await scene.broker.json("handoffs").elements
      #expect(handoffs.map { $0["status"]?.text } == ["outcome_unknown"])
      #expect(try scene.received() == 1)
      try await scene.sh("kill $(cat receiver)")
    }
  }

  private static let configuration = Scene.configuration(
    handoff: ["slow"],
    destinations: """
      [destination.slow]
      transport = "exec"
      command = ["/bin/sh", "-c", "echo $$ > ../../../receiver; echo x >> ../../../received; exec sleep 300"]
      containment = "none"
      """
  )
}

/// A broker that may or may not get the state folder.
private struct Contender {
  private let process: SpawnedProcess
  private let output: BytePath
  private let errors: BytePath

  init(_ config: BytePath, _ scene: Scene, _ name: String) async throws {
    output = scene.broker.root.appending(BytePath("\(name).out"))
    errors = scene.broker.root.appending(BytePath("\(name).err"))
    var command = ProcessCommand(
      RunningBroker.program,
      arguments: ["serve", "--config", config],
      environment: ["PATH=/usr/bin:/bin"]
    )
    command.descriptors = [
      1: try FileDescriptor.open(output, O_WRONLY | O_CREAT | O_TRUNC),
      2: try FileDescriptor.open(errors, O_WRONLY | O_CREAT | O_TRUNC),
    ]
    process = try await SpawnedProcess.spawn(command)
  }

  var said: String {
    get throws {
      String(
        decoding: try FileDescriptor.open(errors, O_RDONLY).readAll(limit: 1 << 20),
        as: UTF8.self
      )
    }
  }

  /// `ready`, or the exit code.
  func outcome() async throws -> String {
    let found = try await poll { () -> String? in
      switch process.exitStatus {
      case .exited(let code): String(code)
      case .signalled(let number): "signal \(number)"
      case nil: try FileStatus.of(output)?.size == 6 ? "ready" : nil
      }
    }
    return found ?? "neither"
  }

  func end(_ signal: CInt) async -> LinuxSystem.ExitStatus {
    kill(process.id, signal)
    return await process.exit()
  }
}
