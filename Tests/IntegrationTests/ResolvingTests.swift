import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a plugin is told when it asks where it can read an asset: the ledger is asked at that moment.
@Suite("Resolving")
struct ResolvingTests {
  @Test("each reason that an asset cannot be read has its own code", .timeLimit(.minutes(2)))
  func codes() async throws {
    let plugins = ["plug", "other"].map { ($0, "reconcile,cancel", "") }
    try await OutcomePlugin.run(plugins) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let other = OutcomePlugin(scene: scene, name: "other")
      let asset = try await scene.asset(1)
      let foreign = try await scene.asset(2)
      let id = try await scene.send(asset, to: "plug", "probe=working")
      try await scene.wait(id, until: "accepted")
      let path = try #require(grantedPath(in: try await answer(plug, asset)))
      #expect(access(path.nulTerminated, R_OK) == 0)
      #expect(try await answer(plug, foreign) == "\(foreign) access_limited ")

      // Another destination's token, and one that nobody has.
      let theirs = try await scene.send(asset, to: "other", "work")
      try await scene.wait(theirs, until: "accepted")
      try other.tell("token")
      _ = try await scene.broker.wait("show", theirs) { _ in
        (try? other.lines("token").count) == 1
      }
      let token = try #require(try other.lines("token").first)
      #expect(try await answer(plug, asset, token) == "\(asset) wrong_destination ")
      let forged = "1." + String(repeating: "A", count: 43)
      #expect(try await answer(plug, asset, forged) == "\(asset) unknown_state ")

      // A descriptor that is open stays readable; the path ends with the handoff.
      let open = try FileDescriptor.open(path, O_RDONLY)
      try plug.tell("success")
      try await scene.wait(id, until: "succeeded")
      _ = try await scene.broker.wait("show", id) { _ in access(path.nulTerminated, R_OK) != 0 }
      #expect(try !open.readAll(limit: 1 << 24).isEmpty)
      #expect(try await answer(plug, asset) == "\(asset) expired ")

      // Deleted while it is open there.
      let third = try await scene.asset(3)
      let deleted = try await scene.send(third, to: "plug", "work")
      try await scene.wait(deleted, until: "accepted")
      let gone = try await scene.broker.command(["delete", BytePath(third), "--force"])
      #expect(gone.code == 0)
      #expect(try await answer(plug, third) == "\(third) asset_deleted ")
    }
  }

  @Test("damaged and missing objects, and a library that is away", .timeLimit(.minutes(2)))
  func objects() async throws {
    try await OutcomePlugin.run([("plug", "reconcile", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let damaged = try await scene.asset(1)
      let id = try await scene.send(damaged, to: "plug", "probe=working")
      try await scene.wait(id, until: "accepted")
      let object = scene.object(try await scene.asset(damaged).text(of: "sha256"))
      #expect(chmod(object.nulTerminated, 0o644) == 0)
      let file = try FileDescriptor.open(object, O_WRONLY)
      try file.write(Array("damage".utf8))
      try file.close()
      _ = try await scene.broker.command(["fsck"])
      #expect(try await answer(plug, damaged) == "\(damaged) asset_damaged ")

      // Of one whose object is gone nothing is granted when the plugin starts anew.
      let missing = try await scene.asset(2)
      let second = try await scene.send(missing, to: "plug", "probe=working")
      try await scene.wait(second, until: "accepted")
      let lost = scene.object(try await scene.asset(missing).text(of: "sha256"))
      await scene.broker.end(SIGKILL)
      #expect(unlink(lost.nulTerminated) == 0)
      try await scene.broker.start()
      _ = try await scene.broker.wait("show", second) { _ in
        (try? plug.lines("heard").count { $0 == "reconcile" }) == 1
      }
      #expect(try await answer(plug, missing) == "\(missing) asset_missing ")

      let library = scene.broker.root.appending("library")
      let aside = scene.broker.root.appending("aside")
      try DurableFile.rename(library, to: aside)
      #expect(try await answer(plug, missing) == "\(missing) library_unavailable ")
      try DurableFile.rename(aside, to: library)
    }
  }

  @Test(
    "a limited destination is widened by one asset, for what comes after",
    .timeLimit(.minutes(2))
  )
  func allowed() async throws {
    let limited = ("plug", "reconcile", "folders = [\"exports\"]")
    try await OutcomePlugin.run([limited, ("free", "", "")]) { scene in
      let asset = try await scene.asset(1)
      let refused = try await scene.send(asset, to: "plug", "now")
      let error = try await scene.wait(refused, until: "refused")["error"]
      #expect(error?["code"]?.text == "access_limited")
      #expect(error?["remedy"]?.text?.contains("handoff allow \(asset) plug") == true)

      let allowed = try await scene.broker.json("allow", BytePath(asset), "plug")
      #expect(allowed["was_allowed"] == .bool(false))
      #expect(allowed["refused"]?.elements == [.string(try #require(refused.exactText))])
      #expect(try await scene.broker.json("show", refused)["status"]?.text == "refused")
      let sent = try await scene.send(asset, to: "plug", "now")
      try await scene.wait(sent, until: "succeeded")
      #expect(try await scene.events(asset).contains("allowed"))
      let again = try await scene.broker.json("allow", BytePath(asset), "plug")
      #expect(again["was_allowed"] == .bool(true))

      // Only this one.
      let second = try await scene.asset(2)
      try await scene.wait(try await scene.send(second, to: "plug", "now"), until: "refused")
      for (words, code) in [
        (["allow", BytePath(asset), "free"], 4), (["allow", BytePath(asset), "nowhere"], 3),
        (["allow", "no-identifier", "plug"], 3), (["allow", BytePath(asset)], 2),
      ] as [([BytePath], CInt)] {
        #expect(try await scene.broker.command(words).code == code, "\(words)")
      }
    }
  }

  @Test("a path ends with its handoff, whatever the end", .timeLimit(.minutes(2)))
  func ends() async throws {
    try await OutcomePlugin.run([("plug", "cancel", "")]) { scene in
      let plug = OutcomePlugin(scene: scene, name: "plug")
      let asset = try await scene.asset(1)
      for end in ["cancelled", "expired", "failed"] {
        let more: [BytePath] = end == "expired" ? ["--expires-in", "3s"] : ["--expires-in", "1h"]
        let id = try await scene.send(asset, to: "plug", "cancel=cancelled", more[0], more[1])
        try await scene.wait(id, until: "accepted")
        let known = try plug.lines("resolved").count
        try plug.tell("resolve \(asset)")
        let line = try await resolved(plug, after: known)
        let path = try #require(grantedPath(in: line))
        let open = try FileDescriptor.open(path, O_RDONLY)
        switch end {
        case "cancelled": _ = try await scene.broker.command(["cancel", id])
        case "failed": try plug.tell("failure applied")
        default: break
        }
        try await scene.wait(id, until: end)
        _ = try await scene.broker.wait("show", id) { _ in access(path.nulTerminated, R_OK) != 0 }
        #expect(try !open.readAll(limit: 1 << 24).isEmpty)
        let next = try plug.lines("resolved").count
        try plug.tell("resolve \(asset)")
        #expect(try await resolved(plug, after: next) == "\(asset) expired ")
      }
    }
  }

  // MARK: Parts

  /// The path that the plugin was told, which may hold spaces.
  private func grantedPath(in line: String) -> BytePath? {
    let words = line.split(separator: " ", maxSplits: 2)
    return words.count == 3 && words[1] == "path" ? BytePath(String(words[2])) : nil
  }

  /// Has the plugin resolve an asset, and returns what it was told.
  private func answer(
    _ plug: OutcomePlugin,
    _ asset: String,
    _ token: String? = nil
  ) async throws -> String {
    let known = try plug.lines("resolved").count
    try plug.tell("resolve \(asset)" + (token.map { " \($0)" } ?? ""))
    return try await resolved(plug, after: known)
  }

  private func resolved(_ plug: OutcomePlugin, after known: Int) async throws -> String {
    let line = try await poll { try plug.lines("resolved").dropFirst(known).first }
    return try #require(line, "the plugin was not answered")
  }
}
