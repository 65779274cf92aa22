import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Exports that are exported again before everything of the older one was sent.
@Suite("Superseded exports")
struct SupersedingTests {
  /// A broker whose slow destination is busy with another export.
  private func withBusyReceiver(
    _ policy: String,
    _ body: nonisolated(nonsending) (Scene, Gate) async throws -> Void
  ) async throws {
    let text = Scene.configuration(
      folder: "on_supersede = \"\(policy)\"",
      handoff: ["slow"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      let gate = try Gate("slow", scene)
      try scene.write(try await Scene.video(100), to: "busy.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "submitted"
      }
      try await body(scene, gate)
    }
  }

  @Test(
    "replace: the older one is not sent any more, and the newer one is",
    .timeLimit(.minutes(2))
  )
  func replace() async throws {
    try await withBusyReceiver("replace") { scene, gate in
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      let first = try await scene.identifier(of: "cut.mp4")
      try scene.place(try await Scene.video(2), as: "cut.mp4")
      let second = try await scene.identifier(of: "cut.mp4", other: first)
      let older = try #require(try await scene.handoffs(of: first, to: "slow").first)
      #expect(older["status"]?.text == "cancelled")
      #expect(older["error"]?["code"]?.text == "superseded")
      #expect(older["error"]?["message"]?.text?.contains(second) == true)
      // And back to the first content: it is handed off again.
      try scene.place(try await Scene.video(1), as: "cut.mp4")
      #expect(try await scene.identifier(of: "cut.mp4", other: second) == first)
      #expect(
        try await scene.handoffs(of: second, to: "slow").first?["status"]?.text == "cancelled"
      )
      #expect(try await scene.asset(first)["superseded_by"] == .null)
      #expect(try await scene.asset(second).text(of: "superseded_by") == first)
      for _ in 1...2 { try gate.pass() }
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 4
          && handoffs.elements.count { $0["status"]?.text == "succeeded" } == 2
      }
      let sent = try await scene.handoffs(of: first, to: "slow").map { $0["status"]?.text }
      #expect(sent == ["succeeded", "cancelled"])
    }
  }

  @Test("hold: the older one waits until a person lets it go or ends it", .timeLimit(.minutes(2)))
  func hold() async throws {
    try await withBusyReceiver("hold") { scene, gate in
      for (number, name) in [(UInt64(3), BytePath("a.mp4")), (4, "b.mp4")] {
        try scene.write(try await Scene.video(number), to: name)
        let first = try await scene.identifier(of: name)
        try scene.place(try await Scene.video(number + 10), as: name)
        _ = try await scene.identifier(of: name, other: first)
        let held = try #require(try await scene.handoffs(of: first, to: "slow").first)
        #expect(held["waiting"]?["reason"]?.text == "superseded")
        let id = BytePath(try held.text(of: "id"))
        if name == "a.mp4" {
          let retried = try await scene.broker.json("retry", id)
          #expect(retried["waiting"]?["reason"]?.text != "superseded")
        } else {
          #expect(try await scene.broker.json("cancel", id)["status"]?.text == "cancelled")
        }
      }
      for _ in 1...4 { try gate.pass() }
      let handoffs = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count { $0["status"]?.text == "succeeded" } == 4
      }
      #expect(handoffs.elements.count { $0["status"]?.text == "cancelled" } == 1)
      #expect(handoffs.elements.count == 5)
    }
  }

  @Test("both: the older one and the newer one go", .timeLimit(.minutes(2)))
  func both() async throws {
    try await withBusyReceiver("both") { scene, gate in
      try scene.write(try await Scene.video(5), to: "cut.mp4")
      let first = try await scene.identifier(of: "cut.mp4")
      try scene.place(try await Scene.video(6), as: "cut.mp4")
      _ = try await scene.identifier(of: "cut.mp4", other: first)
      for _ in 1...3 { try gate.pass() }
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 3
          && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
    }
  }

  @Test(
    "a receiver that resolves is told of the newer asset, and that an asset was deleted",
    .timeLimit(.minutes(2)),
    arguments: ["superseded", "deleted"]
  )
  func resolving(what: String) async throws {
    try await Scene.run("", starting: false) { scene in
      let program = scene.broker.root.appending("plugin.py")
      try DurableFile.write(Array(Self.plugin.utf8), to: program, permissions: 0o755)
      let destination = """
        [destination.asks]
        transport = "plugin"
        command = ["python3", "\(program)"]
        containment = "none"
        """
      let text = Scene.configuration(handoff: ["asks"], destinations: destination)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      let gate = try Gate("asks", scene)
      try scene.write(try await Scene.video(7), to: "cut.mp4")
      let first = try await scene.identifier(of: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "accepted"
      }
      var second = ""
      if what == "superseded" {
        try scene.place(try await Scene.video(8), as: "cut.mp4")
        second = try await scene.identifier(of: "cut.mp4", other: first)
      } else {
        let report = try await scene.broker.json("delete", BytePath(first), "--force")
        #expect(report["open"]?.elements == [.string("h1")])
      }
      try gate.pass()
      let work = scene.broker.root.appending("state/work/asks/answer")
      let answer = try #require(
        try await poll { () -> JSONValue? in
          guard let file = try? FileDescriptor.open(work, O_RDONLY) else { return nil }
          return try WireCoder.decode(JSONValue.self, from: try file.readAll(limit: 1 << 20))
        }
      )
      if what == "superseded" {
        #expect(answer["result"]?["superseded_by"]?.text == second)
      } else {
        #expect(answer["error"]?["data"]?["code"]?.text == "asset_deleted", "\(answer)")
        // Its result comes by the normal rules.
        _ = try await scene.broker.wait("show", "h1") { $0["status"]?.text == "succeeded" }
      }
    }
  }

  /// Accepts, waits at the gate, resolves, writes the answer down, and reports success.
  private static let plugin =
    PythonPlugin.wire + """
      def resolve(request):
          with open(os.path.join(work, "gate")) as gate: gate.readline()
          send({"id": "a", "method": "asset.resolve", "params": {
              "state": request["state"], "local_identifier": request["local_identifiers"][0]}})
          while True:
              message = json.loads(next(lines))
              if message.get("id") == "a" and "method" not in message: break
          draft = os.path.join(work, "draft")
          with open(draft, "w") as file: json.dump(message, file)
          os.rename(draft, os.path.join(work, "answer"))
          send({"id": "r", "method": "handoff.result", "params": {
              "protocol_version": 3, "state": request["state"], "result": "success"}})

      for message, method, call, params in messages():
          if method is None: continue
          if method == "discover":
              describe(call, "asks", [])
          elif method == "submit":
              send({"id": call, "result": {"accepted": True}})
              resolve(params["request"])
          else: send({"id": call, "result": {}})
      """
}
