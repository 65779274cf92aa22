import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What brings the broker or a receiver down each time it is tried.
@Suite("Cases: poison")
struct PoisonCases {
  @Test(
    "Case 46: a file whose plugin kills the broker is given up, and the good one behind it is done",
    .timeLimit(.minutes(2))
  )
  func killsBroker() async throws {
    try await Self.run(killing: "os.getppid()") { scene in
      try scene.write(try await Scene.video(1), to: "poison.mp4")
      try scene.write(try await Scene.video(2), to: "good.mp4")
      // The supervisor: the broker ends by itself three times, and is started again.
      for _ in 1...3 {
        await scene.broker.end(0)
        try await scene.broker.start()
      }
      let handoffs = try await Self.settled(scene)
      #expect(handoffs["good"]?["status"]?.text == "succeeded")
      let poison = try #require(handoffs["poison"])
      #expect(poison["status"]?.text == "failed")
      #expect(poison["error"]?["code"]?.text == "receiver_crashed")
      #expect(poison["error"]?["effect"]?.text == "none")
      #expect(try Self.tries(scene) == 3)
      try await Self.expectShown(scene, BytePath(poison["id"]?.text ?? ""), "broker_crashed")
    }
  }

  @Test("A plugin that dies of one handoff gets on with the others", .timeLimit(.minutes(2)))
  func killsItself() async throws {
    try await Self.run(killing: "os.getpid()") { scene in
      try scene.write(try await Scene.video(1), to: "poison.mp4")
      try scene.write(try await Scene.video(2), to: "good.mp4")
      let handoffs = try await Self.settled(scene)
      #expect(handoffs["good"]?["status"]?.text == "succeeded")
      let poison = try #require(handoffs["poison"])
      #expect(poison["error"]?["code"]?.text == "receiver_crashed")
      #expect(try Self.tries(scene) == 3)
      try await Self.expectShown(scene, BytePath(poison["id"]?.text ?? ""), "receiver_crashed")
    }
  }

  @Test("A file that was being imported at each crash is refused, until a person says otherwise")
  func poisonousImport() async throws {
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try scene.write(try await Scene.video(1), to: "poison.mp4")
      try scene.write(try await Scene.video(2), to: "good.mp4")
      // What three crashes during its import leave behind; and what is left of a file that was beside it
      // in two, and has not been tried since.
      try scene.folder("state/imports")
      try Self.note("poison.mp4", "under_way", in: scene)
      try Self.note("good.mp4", "waiting", in: scene)
      try await scene.broker.start()
      try await scene.untilImported("good.mp4")
      let report = try await scene.file("poison.mp4", is: "refused")
      #expect(report["reason"]?.text?.contains("crashed 3 times") == true)
      _ = try await scene.broker.json("retry", scene.exports.appending("poison.mp4"))
      try await scene.untilImported("poison.mp4")
    }
  }

  /// Notes two crashes of the broker during the import of a file.
  private static func note(_ name: BytePath, _ standing: String, in scene: Scene) throws {
    let path = scene.exports.appending(name)
    let identity = try #require(try FileStatus.of(path)).identity
    let boot = try FileDescriptor.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
    let id = String(decoding: try boot.readAll(limit: 64), as: UTF8.self)
      .filter { !$0.isNewline }
    let facts = "\(id) 2 \(identity.size) \(identity.modified) \(standing)"
    let note = BytePath("state/imports/\(identity.device)-\(identity.inode)")
    let text = "\(facts)\n\(path.lossyText)"
    try DurableFile.write(Array(text.utf8), to: scene.broker.root.appending(note))
  }

  /// Both have ended; by their titles.
  private static func settled(_ scene: Scene) async throws -> [String: JSONValue] {
    let handoffs = try await scene.broker.wait("handoffs", within: .seconds(60)) { handoffs in
      handoffs.elements.count == 2
        && handoffs.elements.allSatisfy {
          ["succeeded", "failed"].contains($0["status"]?.text ?? "")
        }
    }
    return Dictionary(
      handoffs.elements.map { ($0["title"]?.text ?? "", $0) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// A person sees it, its history tells of each crash, and no bulk retry touches it.
  private static func expectShown(_ scene: Scene, _ id: BytePath, _ event: String) async throws {
    let status = try await scene.broker.json("status")
    let needs = status["needs_person"]?.elements.map { $0["id"]?.text } ?? []
    #expect(needs.contains(id.lossyText))
    let history = try await scene.broker.json("history", id)
    let events = history.elements.map { $0["event"]?.text ?? "" }
    #expect(events.count { $0 == event } == 3)
    #expect(events.last == "given_up")
    let retried = try await scene.broker.json("retry", "--failed")
    #expect(retried["retried"]?.elements == [])
    #expect(retried["left_out"]?.elements.count == 1)
  }

  private static func tries(_ scene: Scene) throws -> Int {
    let log = scene.broker.root.appending("state/work/taker/tries")
    let bytes = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1 << 16)
    return bytes.count { $0 == UInt8(ascii: "\n") }
  }

  private static func run(
    killing process: String,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await Scene.run("", starting: false) { scene in
      let program = scene.broker.root.appending("plugin.py")
      let text = Self.program.replacing("VICTIM", with: process)
      try DurableFile.write(Array(text.utf8), to: program, permissions: 0o755)
      let configuration = Scene.configuration(
        handoff: ["taker"],
        destinations: """
          [destination.taker]
          transport = "plugin"
          command = ["python3", "\(program)"]
          containment = "none"
          """
      )
      try DurableFile.write(Array(configuration.utf8), to: scene.broker.config)
      try await scene.broker.start()
      try await body(scene)
    }
  }

  /// Takes everything and is done with it at once, but for `poison`.
  private static let program =
    PythonPlugin.wire + """
      import signal


      for message, method, call, params in messages():
          if method is None: continue
          if method == "discover":
              describe(call, "taker", ["reconcile"])
          elif method == "submit":
              request = params["request"]
              if request["title"] == "poison":
                  with open(os.path.join(work, "tries"), "a") as file:
                      file.write("try\\n")
                  os.kill(VICTIM, signal.SIGKILL)
              send({"id": call, "result": {"accepted": True}})
              send({"id": "r", "method": "handoff.result", "params": {
                  "protocol_version": 3, "state": request["state"], "result": "success",
                  "output": {"url": "https://example.net/" + request["title"]}}})
          elif method == "reconcile":
              send({"id": call, "result": {"handoffs": [
                  {"handoff_id": h["handoff_id"], "standing": "not_received"}
                  for h in params["handoffs"]]}})
          else: send({"id": call, "result": {}})
      """
}
