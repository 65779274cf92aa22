import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Proofs, sidecars that are waited for, files that were there before, and a person's word on them.
@Suite("Evidence, end to end")
struct EvidenceTests {
  @Test(
    "an export waits for its sidecar, which counts before, with and after its video",
    .timeLimit(.minutes(1))
  )
  func sidecarWait() async throws {
    try await withBox("sidecar_wait = \"60s\"") { scene in
      try Self.tick(scene, "before.mp4")
      try scene.write(try await Scene.video(1), to: "before.mp4")
      _ = try await Self.published(scene, 1)
      let path = scene.exports.appending("after.mp4")
      try scene.write(try await Scene.video(2), to: "after.mp4")
      let why = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_sidecar" }
      #expect(why["until"]?.text != nil)
      #expect(why["reason"]?.text?.contains("after.mp4.handoff.toml") == true)
      let rows = why["evidence"]?.elements ?? []
      #expect(rows.allSatisfy { $0["since"]?.text != nil })
      #expect(rows.last?["check"]?.text == "sidecar")
      try Self.tick(scene, "after.mp4")
      _ = try await Self.published(scene, 2)
    }
  }

  @Test(
    "an export whose sidecar does not come goes on without, and one that comes later says so",
    .timeLimit(.minutes(1))
  )
  func lateSidecar() async throws {
    try await withBox("sidecar_wait = \"1s\"") { scene in
      let path = scene.exports.appending("cut.mp4")
      try scene.write(try await Scene.video(3), to: "cut.mp4")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "imported" }
      try Self.tick(scene, "cut.mp4")
      let why = try await scene.broker.wait("why", path) { $0["reason"]?.text != nil }
      #expect(why["reason"]?.text?.contains("sidecar came after") == true)
      let status = try await scene.broker.wait("status") {
        $0["candidates"]?.elements.contains {
          $0["reason"]?.text?.contains("came after its export") == true
        } == true
      }
      #expect(status["candidates"]?.elements.count == 1)
      let handoffs = try await scene.broker.json("handoffs")
      #expect(handoffs.elements.allSatisfy { $0["destination"]?.text == "keep" })
      // It counts for the next export of the name, once.
      try scene.write(try await Scene.video(4), to: "cut.mp4")
      _ = try await Self.published(scene, 1)
    }
  }

  @Test("bytes that their checksum disproves come nowhere near the ledger", .timeLimit(.minutes(1)))
  func checksum() async throws {
    try await withBox("proof = \"checksum\"") { scene in
      let path = scene.exports.appending("cut.mp4")
      try scene.write(try await Scene.video(5), to: "cut.mp4")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_proof" }
      let wrong = String(repeating: "0", count: 64)
      try scene.write(Array("\(wrong) *cut.mp4\n".utf8), to: "cut.mp4.sha256")
      let why = try await scene.broker.wait("why", path) {
        $0["reason"]?.text?.contains("does not agree with cut.mp4.sha256") == true
      }
      #expect(why["state"]?.text == "waiting_proof")
      #expect(try await scene.broker.json("assets").elements.isEmpty)
      let folder = scene.exports.lossyText
      #expect(await shell("cd '\(folder)' && sha256sum cut.mp4 > cut.mp4.sha256") == 0)
      let assets = try await scene.broker.wait("assets") { $0.elements.count == 1 }
      let sum = await shell(
        "cd '\(folder)' && test \"$(cut -c1-64 cut.mp4.sha256)\" = "
          + "\(assets.elements[0]["sha256"]?.text ?? "none")"
      )
      #expect(sum == 0)
    }
  }

  @Test(
    "what was there before is ignored over restarts until a person wants it, and is never published",
    .timeLimit(.minutes(1))
  )
  func existing() async throws {
    try await withBox("existing = \"ignore\"", starting: false) { scene in
      let path = scene.exports.appending("old.mp4")
      try Self.tick(scene, "old.mp4")
      try scene.write(try await Scene.video(6), to: "old.mp4")
      for _ in 0..<2 {
        try await scene.broker.start()
        let why = try await scene.broker.wait("why", path) { $0["state"]?.text == "ignored" }
        #expect(why["reason"]?.text?.contains("existing") == true)
        #expect(try await scene.broker.json("assets").elements.isEmpty)
        await scene.broker.end(SIGTERM)
      }
      try await scene.broker.start()
      #expect(try await scene.broker.command(["retry", path]).code == 0)
      _ = try await scene.broker.wait("assets") { $0.elements.count == 1 }
      let handoffs = try await scene.broker.wait("handoffs") { !$0.elements.isEmpty }
      #expect(handoffs.elements.map { $0["destination"]?.text } == ["keep"])
      // The ledger knows it now: it is an asset's file, and no longer one that is ignored.
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "imported" }
    }
  }

  @Test("handoff retry PATH: what it says, by its exit code", .timeLimit(.minutes(1)))
  func retry() async throws {
    try await withBox("give_up = \"1s\"") { scene in
      let video = try await Scene.video(7)
      let path = scene.exports.appending("half.mp4")
      try scene.write(Array(video.prefix(video.count / 2)), to: "half.mp4")
      try scene.write(video, to: "a.part")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "refused" }
      let again = try await scene.broker.command(["retry", path])
      #expect(again.code == 0)
      #expect(String(decoding: again.output, as: UTF8.self).contains("looked at again now"))
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "refused" }
      #expect(
        try await scene.broker.command(["retry", scene.exports.appending("no.mp4")]).code == 3
      )
      #expect(try await scene.broker.command(["retry", "/etc/hosts"]).code == 3)
      #expect(
        try await scene.broker.command(["retry", scene.exports.appending("a.part")]).code == 4
      )
      #expect(try await scene.broker.command(["retry"]).code == 2)
      await scene.broker.end(SIGTERM)
      #expect(try await scene.broker.command(["retry", path]).code == 75)
    }
  }

  @Test("handoff why names who has a file open, and lists what is still to be checked")
  func namesWriter() async throws {
    try await withBox("") { scene in
      let path = scene.exports.appending("open.mp4")
      let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT, mode: 0o644)
      try file.write(try await Scene.video(8))
      let why = try await scene.broker.wait("why", path) {
        $0["state"]?.text == "open_for_writing"
      }
      #expect(why["reason"]?.text?.contains("(pid \(getpid()))") == true)
      let rows = why["evidence"]?.elements ?? []
      #expect(rows.first { $0["check"]?.text == "no_writer" }?["passed"] == .bool(false))
      #expect(rows.last?["pending"] == .bool(true))
      let text = try await scene.broker.command(["why", path])
      #expect(String(decoding: text.output, as: UTF8.self).contains("not yet checked"))
      try file.close()
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "imported" }
    }
  }

  // MARK: The scene

  private func withBox(
    _ rule: String,
    starting: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    let destinations = """
      [destination.keep]
      transport = "exec"
      command = ["/bin/true"]
      [destination.social]
      transport = "exec"
      command = ["/bin/true"]
      """
    let text = Scene.configuration(
      folder: "sync_publish_to = [\"social\"]\n\(rule)",
      handoff: ["keep"],
      destinations: destinations
    )
    try await Scene.run(text, starting: starting, body)
  }

  private static func tick(_ scene: Scene, _ name: BytePath) throws {
    try DurableFile.write(
      Array("sync_publish = true\n".utf8),
      to: scene.exports.appending(name).addingSuffix(".handoff.toml"),
      permissions: 0o644
    )
  }

  private static func published(_ scene: Scene, _ count: Int) async throws -> JSONValue {
    try await scene.broker.wait("handoffs") {
      $0.elements.count {
        $0["destination"]?.text == "social" && $0["status"]?.text == "succeeded"
      } == count
    }
  }
}
