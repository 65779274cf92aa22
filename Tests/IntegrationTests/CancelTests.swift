import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// `handoff cancel` over real receivers, wherever the handoff stands.
@Suite("Cancelling")
struct CancelTests {
  @Test("a receiver that gives it up ends it as cancelled", .timeLimit(.minutes(1)))
  func givenUp() async throws {
    try await OutcomePlugin.run([("plug", "cancel,reconcile", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "cancel=cancelled")
      try await scene.wait(id, until: "accepted")
      let ended = try await scene.broker.command(["cancel", id, "--json"])
      #expect(ended.code == 0, "\(ended.errors)")
      let answer = try WireCoder.decode(JSONValue.self, from: ended.output)
      #expect(answer["status"]?.text == "cancelled")
      #expect(try plug.lines("heard").count { $0 == "cancel" } == 1)
      let again = try await scene.broker.command(["cancel", id])
      #expect(again.code == 4)
      #expect(again.errors.contains("has ended: it is cancelled"))
    }
  }

  @Test("a wish that comes after the work was done is said to be late", .timeLimit(.minutes(1)))
  func tooLate() async throws {
    try await OutcomePlugin.run([("plug", "cancel", "")]) { scene in
      let id = try await scene.send(try await scene.asset(1), to: "plug", "cancel=done")
      try await scene.wait(id, until: "accepted")
      let ended = try await scene.broker.command(["cancel", id])
      #expect(ended.code == 4)
      #expect(ended.errors.contains("came too late"))
      let handoff = try await scene.wait(id, until: "succeeded")
      #expect(handoff["output"]?["url"]?.text == "done")
      #expect(handoff["late_results"] == .integer(0))
    }
  }

  @Test("what a receiver has heard, and not answered, stays open", .timeLimit(.minutes(1)))
  func heard() async throws {
    try await OutcomePlugin.run([("plug", "cancel", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "cancel=working")
      try await scene.wait(id, until: "accepted")
      for _ in 1...2 {
        let ended = try await scene.broker.command(["cancel", id])
        #expect(ended.code == 0)
        #expect(ended.errors.contains("will be asked"))
      }
      let open = try await scene.broker.json("show", id)
      #expect(open["status"]?.text == "accepted")
      #expect(open["cancel_requested_at"]?.text != nil)
      #expect(try plug.lines("heard").count { $0 == "cancel" } == 2)
      // Nothing happened there: it is not tried again.
      try plug.tell("failure none")
      let cancelled = try await scene.wait(id, until: "cancelled")
      #expect(cancelled["error"]?["effect"]?.text == "none")
      #expect(try plug.lines("done").count == 1)
    }
  }

  @Test(
    "a receiver that cannot be asked may still do it; that is kept and adopted",
    .timeLimit(.minutes(1)),
    arguments: ["", "cancel"]
  )
  func cannotBeAsked(capabilities: String) async throws {
    try await OutcomePlugin.run([("plug", capabilities, "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "nothing")
      try await scene.wait(id, until: "accepted")
      let ended = try await scene.broker.command(["cancel", id])
      #expect(ended.code == 5)
      #expect(ended.errors.contains("may still happen"))
      try await scene.wait(id, until: "cancelled")
      try plug.tell("success")
      let late = try await scene.broker.wait("show", id) { $0["late_results"] == .integer(1) }
      #expect(late["status"]?.text == "cancelled")
      let listed = try #require(late["late_result_list"]?.elements.first)
      #expect(listed["result"]?.text == "success")
      #expect(listed["output"]?["url"]?.text == "told")
      #expect(listed["at"]?.text != nil)
      let status = try await scene.broker.json("status")
      #expect(status["needs_person"]?.elements.map { $0["id"]?.text } == [id.exactText])
      #expect(try await scene.broker.json("adopt", id)["status"]?.text == "succeeded")
      #expect(try await scene.broker.json("status")["needs_person"]?.elements.isEmpty == true)
    }
  }

  @Test(
    "a second wish ends what a receiver has only heard of; an error ends it at once",
    .timeLimit(.minutes(1)),
    arguments: [("heard", 2), ("error", 1)]
  )
  func withoutAnswer(title: String, wishes: Int) async throws {
    try await OutcomePlugin.run([("plug", "cancel,probe", "")]) { scene in
      let id = try await scene.send(try await scene.asset(1), to: "plug", title)
      try await scene.wait(id, until: "accepted")
      for number in 1...wishes {
        let ended = try await scene.broker.json("cancel", id)
        #expect(ended["status"]?.text == (number == wishes ? "cancelled" : "accepted"))
      }
      let cancelled = try await scene.wait(id, until: "cancelled")
      #expect(cancelled["error"]?["effect"]?.text == "unknown")
      #expect(cancelled["error"]?["message"]?.text?.contains("was asked") == true)
    }
  }

  @Test("what was heard of an unknown outcome does not make it accepted", .timeLimit(.minutes(1)))
  func heardOfUnknown() async throws {
    let plugin = ("plug", "cancel,probe,reconcile", "idle = \"1s\"")
    try await OutcomePlugin.run([plugin]) { scene in
      let id = try await scene.send(try await scene.asset(1), to: "plug", "heard")
      try await scene.wait(id, until: "outcome_unknown")
      let asked = try await scene.broker.command(["cancel", id, "--json"])
      #expect(asked.code == 5, "\(asked.errors)")
      #expect(asked.errors.contains("will be asked"))
      let open = try await scene.broker.json("show", id)
      #expect(open["status"]?.text == "outcome_unknown")
      #expect(try await scene.broker.json("cancel", id)["status"]?.text == "cancelled")
    }
  }

  @Test("a wish that is not answered holds up no other", .timeLimit(.minutes(1)))
  func oneHangs() async throws {
    try await OutcomePlugin.run([("plug", "cancel", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let first = try await scene.send(try await scene.asset(1), to: "plug", "hang")
      try await scene.wait(first, until: "accepted")
      let second = try await scene.send(try await scene.asset(2), to: "plug", "hang")
      try await scene.wait(second, until: "accepted")
      _ = try await scene.broker.json("cancel", first)
      try plug.tell("title cancel=cancelled")
      _ = try await scene.broker.wait("show", second) { _ in
        (try? plug.lines("titled").count) == 1
      }
      #expect(try await scene.broker.json("cancel", second)["status"]?.text == "cancelled")
      #expect(try await scene.broker.json("show", first)["status"]?.text == "accepted")
    }
  }

  @Test("a second wish ends what a plugin holds that does not run", .timeLimit(.minutes(1)))
  func staysDown() async throws {
    try await OutcomePlugin.run([("plug", "cancel", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "heard")
      try await scene.wait(id, until: "accepted")
      // It cannot be started again.
      let program = scene.broker.root.appending("plugin.py")
      try checked("unlink", program) { unlink(program.nulTerminated) }
      try plug.tell("die")
      _ = try await scene.broker.wait("status") {
        $0["destinations"]?.elements.first?["status"]?.text != "up"
      }
      #expect(try await scene.broker.json("cancel", id)["status"]?.text == "accepted")
      let ended = try await scene.broker.json("cancel", id)
      #expect(ended["status"]?.text == "cancelled")
      #expect(ended["error"]?["message"]?.text?.contains("could not be asked") == true)
    }
  }

  @Test("a wish that finds the plugin down is carried to its next life", .timeLimit(.minutes(1)))
  func down() async throws {
    try await OutcomePlugin.run([("plug", "cancel,reconcile", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let title = "probe=working cancel=cancelled"
      let id = try await scene.send(try await scene.asset(1), to: "plug", title)
      try await scene.wait(id, until: "accepted")
      await scene.broker.end(SIGKILL)
      let reader = try await scene.broker.command(["cancel", id])
      #expect(reader.code == 75)
      try await scene.broker.start()
      _ = try await scene.broker.wait("show", id) { _ in
        (try? plug.lines("heard").contains("reconcile")) == true
      }
      try plug.tell("die")
      _ = try await scene.broker.wait("status") {
        $0["destinations"]?.elements.first?["status"]?.text == "down"
      }
      let ended = try await scene.broker.command(["cancel", id])
      #expect(ended.code == 0, "\(ended.errors)")
      try await scene.wait(id, until: "cancelled")
      let heard = try plug.lines("heard")
      #expect(heard.suffix(4).contains("cancel"))
      #expect(heard.count { $0 == "reconcile" } >= 2)
    }
  }

  @Test("an exec receiver's process is ended; its own word counts", .timeLimit(.minutes(1)))
  func exec() async throws {
    let hold = "echo on; while :; do sleep 0.05; done"
    let script = """
      token=$(sed -n 's/.*"state":"\\([^"]*\\)".*/\\1/p'); : > $HANDOFF_WORK/started
      """
    let says = """
      trap 'printf "{\\"protocol_version\\":3,\\"state\\":\\"%s\\",\\"result\\":\\"cancelled\\"}\\n" \
      "$token"; exit 0' TERM
      """
    let destinations = [("silent", ""), ("telling", says), ("code", "trap 'exit 77' TERM")]
      .map { name, trap in
        """
        [destination.\(name)]
        transport = "exec"
        command = ["/bin/sh", "-c", '''\(script); \(trap.isEmpty ? ":" : trap); \(hold)''']
        containment = "none"

        """
      }
    try await Scene.run(Scene.configuration(destinations: destinations.joined())) { scene in
      let asset = try await scene.asset(1)
      for (name, code, status) in [
        ("silent", 5, "outcome_unknown"), ("telling", 0, "cancelled"), ("code", 0, "cancelled"),
      ] {
        let id = try await scene.send(asset, to: name, "work")
        let started = scene.broker.root.appending("state/work/\(name)/started")
        _ = try await scene.broker.wait("show", id) { _ in access(started.nulTerminated, F_OK) == 0
        }
        let ended = try await scene.broker.command(["cancel", id])
        #expect(ended.code == CInt(code), "\(name): \(ended.errors)")
        let handoff = try await scene.wait(id, until: status)
        guard status == "outcome_unknown" else { continue }
        #expect(handoff["error"]?["effect"]?.text == "unknown")
        #expect(handoff["error"]?["side"]?.text == "broker")
        #expect(ended.errors.contains("it was ended"))
        // Nobody is left to be asked: a second wish ends it.
        #expect(try await scene.broker.json("cancel", id)["status"]?.text == "cancelled")
      }
    }
  }
}
