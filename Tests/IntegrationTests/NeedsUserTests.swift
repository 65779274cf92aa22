import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// A destination that waits for a person, and what becomes of doubt.
@Suite("Needs of a person, and doubt")
struct NeedsUserTests {
  @Test("a need is listed, outlasts the idle time and a restart, and ends", .timeLimit(.minutes(2)))
  func need() async throws {
    try await OutcomePlugin.run([("plug", "reconcile,probe", "idle = \"1s\"")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let title = "probe=needs_user"
      let id = try await scene.send(try await scene.asset(1), to: "plug", title)
      try await scene.wait(id, until: "accepted")
      try plug.tell("need confirm on your phone")
      let waiting = try await scene.wait(id, until: "needs_user")
      #expect(waiting["needs_user"]?.text?.isEmpty == false)
      let listed = try await scene.broker.json("status")["needs_person"]
      #expect(listed?.elements.map { $0["id"]?.text } == [id.exactText])
      let ended = try await scene.broker.command(["send", "x", "--to", "plug"])
      #expect(ended.code != 0)
      // A later handoff's life through the same plugin is longer than the idle time.
      let other = try await scene.send(try await scene.asset(2), to: "plug", "probe=unknown")
      try await scene.wait(other, until: "outcome_unknown")
      #expect(try await scene.broker.json("show", id)["status"]?.text == "needs_user")
      try plug.tell("title probe=needs_user")
      _ = try await scene.broker.wait("show", id) { _ in
        (try? plug.lines("titled").count) == 1
      }
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      _ = try await scene.broker.wait("show", id) { _ in
        (try? plug.lines("heard").count { $0 == "reconcile" }) == 1
      }
      let after = try await scene.wait(id, until: "needs_user")
      #expect(after["needs_user"]?.text == "sign in")
      #expect(try plug.lines("done").count == 2)
    }
  }

  @Test("progress ends a need, and the result counts", .timeLimit(.minutes(1)))
  func progress() async throws {
    try await OutcomePlugin.run([("plug", "", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "work")
      try await scene.wait(id, until: "accepted")
      try plug.tell("need sign in again")
      let waiting = try await scene.wait(id, until: "needs_user")
      #expect(waiting["needs_user"]?.text == "sign in again")
      try plug.tell("progress")
      let accepted = try await scene.wait(id, until: "accepted")
      #expect(accepted["needs_user"] == .null)
      try plug.tell("success")
      try await scene.wait(id, until: "succeeded")
    }
  }

  @Test("however fast needs come and go, the last word counts", .timeLimit(.minutes(1)))
  func flapping() async throws {
    try await OutcomePlugin.run([("plug", "", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "work")
      try await scene.wait(id, until: "accepted")
      try plug.tell("flap 500")
      _ = try await scene.broker.wait("show", id) { _ in (try? plug.lines("flapped").count) == 1 }
      try plug.tell("need confirm it")
      let waiting = try await scene.broker.wait("show", id) {
        $0["needs_user"]?.text == "confirm it"
      }
      #expect(waiting["status"]?.text == "needs_user")
      try plug.tell("flap 500")
      try await scene.wait(id, until: "accepted")
      let events = try await scene.broker.json("history", id).elements
      #expect(events.count < 40, "a thousand changes are not a thousand records")
      try plug.tell("success")
      try await scene.wait(id, until: "succeeded")
    }
  }

  @Test(
    "what waits for a person holds no place, and is not submitted twice",
    .timeLimit(.minutes(1))
  )
  func place() async throws {
    let plugin = ("plug", "probe,cancel", "concurrency = 1")
    try await OutcomePlugin.run([plugin]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let title = "probe=needs_user"
      let first = try await scene.send(try await scene.asset(1), to: "plug", title)
      try await scene.wait(first, until: "accepted")
      try plug.tell("need sign in")
      try await scene.wait(first, until: "needs_user")
      let refused = try await scene.broker.command(["retry", first])
      #expect(refused.code == 4)
      #expect(refused.errors.contains("still waits for a person"), "\(refused.errors)")
      let second = try await scene.send(try await scene.asset(2), to: "plug", "probe=working")
      try await scene.wait(second, until: "accepted")
      #expect(try await scene.broker.json("adopt", first)["status"]?.text == "succeeded")
      try plug.tell("success")
      try await scene.wait(second, until: "succeeded")
      #expect(try plug.lines("done").count == 2)
    }
  }

  @Test(
    "a person's retry of what nobody knows asks the receiver first",
    .timeLimit(.minutes(1)),
    arguments: [
      ("probe=done", "succeeded", 1), ("probe=working", "accepted", 1),
      ("probe=not_received", "accepted", 2), ("probe=unknown", "accepted", 2),
    ]
  )
  func retry(answer: String, status: String, submissions: Int) async throws {
    try await OutcomePlugin.run([("plug", "probe,reconcile", "idle = \"1s\"")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let id = try await scene.send(try await scene.asset(1), to: "plug", "probe=unknown")
      try await scene.wait(id, until: "outcome_unknown")
      try plug.tell("title \(answer)")
      _ = try await scene.broker.wait("show", id) { _ in
        (try? plug.lines("titled").count) == 1
      }
      _ = try await scene.broker.json("retry", id)
      _ = try await scene.broker.wait("show", id) { handoff in
        handoff["status"]?.text == status || (try? plug.lines("done").count) == submissions
      }
      let done = try plug.lines("done")
      #expect(done.count == submissions, "\(done)")
      // The same token each time: the receiver can find the first one.
      #expect(Set(done.compactMap { $0.split(separator: " ").last }).count == 1)
      if submissions == 1, status == "accepted" {
        try plug.tell("success")
        try await scene.wait(id, until: "succeeded")
      }
    }
  }
}
