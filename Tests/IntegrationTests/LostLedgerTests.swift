import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a broker does that finds a library and no ledger that knows it.
@Suite("A lost ledger", .timeLimit(.minutes(5)))
struct LostLedgerTests {
  @Test("a lost state folder begins no empty ledger on a library that has assets")
  func state() async throws {
    try await Scene.withReceiver { scene in
      _ = try await scene.imported(1, as: "a.mp4")
      _ = try await scene.imported(2, as: "b.mp4")
      await scene.broker.end(SIGTERM)
      try Directory.removeTree(scene.ledger.parent)
      // Twice: what is refused leaves nothing that the next start would take for a ledger.
      for _ in 0..<2 { try await Self.refuses(scene) }
      #expect(try await scene.broker.command(["rebuild"]).code == 0)
      try await scene.broker.start()
      _ = try await scene.imported(3, as: "c.mp4")
      #expect(try scene.received() == 3)
    }
  }

  @Test("an old copy of the ledger without its head file is refused, and a rebuild mends it")
  func copy() async throws {
    try await Scene.withReceiver { scene in
      _ = try await scene.imported(1, as: "a.mp4")
      await scene.broker.end(SIGTERM)
      let state = scene.ledger.parent.lossyText
      #expect(await shell("cd '\(state)' && cp ledger.db ledger.key ..") == 0)
      try await scene.broker.start()
      _ = try await scene.imported(2, as: "b.mp4")
      await scene.broker.end(SIGTERM)
      #expect(await shell("cd '\(state)' && rm ledger.* && cp ../ledger.db ../ledger.key .") == 0)
      for _ in 0..<2 { try await Self.refuses(scene) }
      #expect(try await scene.broker.command(["rebuild"]).code == 0)
      try await scene.broker.start()
      _ = try await scene.imported(3, as: "c.mp4")
      #expect(try scene.received() == 3)
    }
  }

  private static func refuses(_ scene: Scene) async throws {
    let ended = try await scene.broker.command(["serve"])
    #expect(ended.code == 1)
    #expect(ended.errors.contains("`handoff rebuild`"), "\(ended.errors)")
  }
}
