import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Two brokers, each with a state folder of its own, and the libraries that they could mix up.
@Suite("Whose library it is", .timeLimit(.minutes(3)))
struct LibrarySharingTests {
  @Test("a library that a broker uses is nobody else's: serve, fsck, gc and rebuild end with 75")
  func shared() async throws {
    try await Scene.withReceiver { scene in
      let second = try Self.second(scene, library: scene.library)
      await scene.broker.end(SIGTERM)
      // So that it has a ledger.
      try await second.start()
      await second.end(SIGTERM)
      try await scene.broker.start()
      let asset = try await scene.imported(1, as: "clip.mp4")
      for words: [BytePath] in [["serve"], ["fsck"], ["gc"], ["rebuild", "--force"]] {
        let ended = try await second.command(words)
        #expect(ended.code == 75, "\(words): \(ended.errors)")
        #expect(ended.errors.contains("library_in_use"))
        #expect(ended.errors.contains(scene.library.lossyText))
      }
      #expect(try FileStatus.of(try scene.object(asset)) != nil)
      #expect(try await scene.ask("fsck").code == 0)
      await scene.broker.end(SIGKILL)
      #expect(try await second.command(["gc", "--dry-run"]).code == 0, "free with its process")
    }
  }

  @Test("another broker's library at the path is waited out: nothing is refused, nothing goes in")
  func swapped() async throws {
    try await Scene.withReceiver { scene in
      let other = scene.broker.root.appending("other")
      let second = try Self.second(scene, library: other)
      try await second.start()
      await second.end(SIGTERM)
      let asset = try await scene.imported(1, as: "clip.mp4")
      let identifier = BytePath(try #require(asset["local_identifier"]?.text))
      let aside = scene.broker.root.appending("aside")
      try DurableFile.rename(scene.library, to: aside)
      try DurableFile.rename(other, to: scene.library)
      try scene.write(try await Scene.video(2), to: "later.mp4")
      _ = try await scene.broker.wait("why", scene.exports.appending("later.mp4")) { why in
        why["reason"]?.text?.contains("another library") == true
      }
      _ = try await scene.broker.json("send", identifier, "--to", "script", "--again")
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.first?["waiting"]?["reason"]?.text == "library_unavailable"
      }
      let checked = try await scene.broker.command(["fsck"])
      #expect(checked.code == 75)
      #expect(checked.errors.contains("another library"))
      // A start finds it just so.
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      #expect(try await scene.ask("status").document["library"]?["status"]?.text == "unavailable")
      try DurableFile.rename(scene.library, to: other)
      try DurableFile.rename(aside, to: scene.library)
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 3
          && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
      let assets = try await scene.broker.wait("assets") { $0.elements.count == 2 }
      #expect(assets.elements.allSatisfy { $0["status"]?.text == "present" })
      #expect(try await scene.ask("fsck").code == 0)
    }
  }

  /// A broker with folders of its own and a given library.
  private static func second(_ scene: Scene, library: BytePath) throws -> RunningBroker {
    let root = scene.broker.root.appending("second")
    try Directory.create(root)
    let configuration = Scene.configuration().replacing(
      "path = \"library\"",
      with: "path = \"\(library.lossyText)\""
    )
    return try RunningBroker(root: root, configuration: configuration)
  }
}
