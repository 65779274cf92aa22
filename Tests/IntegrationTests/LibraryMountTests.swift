import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A library whose file system goes away and comes back, under a running broker and at its start.
@Suite("An unmounted library", .timeLimit(.minutes(3)))
struct LibraryMountTests {
  @Test("everything waits, nothing counts as missing, and it goes on by itself")
  func unmounted() async throws {
    guard getuid() == 0 else { return print("skipped: mounting needs root") }
    try await Scene.withReceiver(library: "reserve = \"1MB\"", starting: false) { scene in
      try await Self.withImage(scene) { mount in
        try await scene.broker.start()
        let asset = try await scene.imported(1, as: "clip.mp4")
        let identifier = BytePath(try #require(asset["local_identifier"]?.text))
        #expect(await shell("umount '\(mount)'") == 0)
        try await Self.waits(scene, identifier)
        #expect(try Directory.entries(of: scene.library).isEmpty, "nothing is written under it")
        // A broker that starts without it waits all the same.
        await scene.broker.end(SIGTERM)
        #expect(try await scene.broker.command(["fsck"]).code == 75)
        #expect(try await scene.broker.command(["gc"]).code == 75)
        #expect(try await scene.broker.command(["rebuild", "--force"]).code == 75)
        try await scene.broker.start()
        #expect(try await scene.ask("status").document["library"]?["status"]?.text == "unavailable")
        #expect(await shell("mount -o loop '\(mount).image' '\(mount)'") == 0)
        let assets = try await scene.broker.wait("assets") { $0.elements.count == 2 }
        #expect(assets.elements.allSatisfy { $0["status"]?.text == "present" })
        _ = try await scene.broker.wait("handoffs") { handoffs in
          handoffs.elements.count == 3
            && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
        }
        #expect(try await scene.ask("fsck").code == 0)
      }
    }
  }

  /// While it is away.
  private static func waits(_ scene: Scene, _ identifier: BytePath) async throws {
    try scene.write(try await Scene.video(2), to: "later.mp4")
    let later = scene.exports.appending("later.mp4")
    let why = try await scene.broker.wait("why", later) { why in
      why["reason"]?.text?.contains("library_unavailable") == true
    }
    #expect(why["state"]?.text == "importing")
    _ = try await scene.broker.json("send", identifier, "--to", "script", "--again")
    let handoffs = try await scene.broker.wait("handoffs") { handoffs in
      handoffs.elements.first?["waiting"]?["reason"]?.text == "library_unavailable"
    }
    #expect(handoffs.elements.first?["status"]?.text == "pending")
    #expect(try await scene.ask("status").document["library"]?["status"]?.text == "unavailable")
    for words: [BytePath] in [["fsck"], ["fsck", identifier], ["gc"]] {
      let ended = try await scene.broker.command(words)
      #expect(ended.code == 75)
      #expect(ended.errors.contains("library_unavailable"))
    }
    #expect(try await scene.ask("show", identifier).document["status"]?.text == "present")
  }

  /// An ext4 image, mounted where the library is.
  private static func withImage(
    _ scene: Scene,
    _ body: nonisolated(nonsending) (String) async throws -> Void
  ) async throws {
    let mount = scene.library.lossyText
    let made = """
      mkdir -p '\(mount)' && truncate -s 64M '\(mount).image' && mkfs.ext4 -q '\(mount).image' \
      && mount -o loop '\(mount).image' '\(mount)' && rmdir '\(mount)/lost+found'
      """
    guard await shell(made) == 0 else { return print("skipped: no loop device can be had") }
    do {
      try await body(mount)
    } catch {
      await scene.broker.end(SIGKILL)
      _ = await shell("umount -l '\(mount)' 2> /dev/null")
      throw error
    }
    await scene.broker.end(SIGKILL)
    _ = await shell("umount -l '\(mount)' 2> /dev/null")
  }
}
