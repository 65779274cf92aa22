import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a receiver may register, and what is left when the broker dies over it.
@Suite("Registering renditions", .timeLimit(.minutes(3)))
struct RegisteringTests {
  @Test("what a receiver may not register is refused with the reason, and nothing is kept")
  func refused() async throws {
    let maker = RenditionPlugin.destination("maker", "make")
    try await RenditionPlugin.run([], maker) { scene in
      let asset = try await scene.asset(1)
      let work = scene.broker.root.appending("state/work/maker")
      try DurableFile.write(Array("secret".utf8), to: scene.broker.root.appending("other.txt"))
      try DurableFile.write(Array("a proxy".utf8), to: work.appending("proxy.mov"))
      try DurableFile.write([], to: work.appending("empty"))
      #expect(mkfifo(work.appending("fifo").nulTerminated, 0o600) == 0)
      let links = [("link", "../../../other.txt"), ("away", "../../..")]
      for (name, target) in links {
        #expect(symlink(target, work.appending(BytePath(name)).nulTerminated) == 0)
      }
      let outside = scene.broker.root.appending("other.txt").lossyText
      let dotted = work.appending("../../../other.txt").lossyText
      let words = ["empty", "fifo", "link", "away/other.txt", "handoffs", "none", outside, dotted]
      let id = try await scene.send(asset, to: "maker", "try " + words.joined(separator: " "))
      let output = try await scene.wait(id, until: "succeeded")["output"]
      let expected: [String: String] = [
        "empty": "malformed_request", "fifo": "malformed_request", "link": "access_limited",
        "away/other.txt": "access_limited", "handoffs": "malformed_request",
        "none": "malformed_request", outside: "access_limited", dotted: "access_limited",
        "foreign": "access_limited", "forged": "unknown_state", "badname": "malformed_request",
      ]
      for (word, code) in expected { #expect(output?[word]?.text == code, "\(word)") }
      #expect(try await scene.asset(asset)["renditions"]?.elements.isEmpty == true)
      #expect(try scene.objects().count == 1)

      // No room: it may be tried again later.
      await scene.broker.end(SIGTERM)
      let text = RenditionPlugin.configuration([], maker, in: scene.broker.root)
        .replacing("path = \"library\"", with: "path = \"library\"\nreserve = \"1000TB\"")
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      let full = try await scene.send(asset, to: "maker", "try proxy.mov")
      let said = try await scene.wait(full, until: "succeeded")["output"]
      #expect(said?["proxy.mov"]?.text == "no_space")
      #expect(try scene.objects().count == 1)
    }
  }

  @Test("a broker that dies between the steps of registering loses nothing and leaves nothing")
  func crashes() async throws {
    let maker = RenditionPlugin.destination("maker", "make")
    try await RenditionPlugin.run([], maker) { scene in
      var assets: [String] = []
      let points = [
        // The object, the record, and what lies between the record and the ledger.
        "library.stage:1", "library.fsync:1", "library.rename:1", "library.sync-folder:1",
        "library.write:1", "library.sync-folder:2",
      ]
      for number in points.indices { assets.append(try await scene.asset(UInt64(number))) }
      await scene.broker.end(SIGTERM)
      let text = RenditionPlugin.configuration([], maker, in: scene.broker.root)
      for (asset, point) in zip(assets, points) {
        let dying = Scene(
          broker: try RunningBroker(
            root: scene.broker.root,
            configuration: text,
            environment: ["HANDOFF_FAULT=\(point):kill"]
          )
        )
        try await dying.broker.start()
        let id = try await dying.send(asset, to: "maker", "make")
        // Nothing is sent: it is waited for until the fault has ended it.
        #expect(await dying.broker.end(0) == .signalled(SIGKILL), "\(point)")
        try await scene.broker.start()
        let made = try await scene.wait(id, until: "succeeded")
        let shown = try await scene.asset(asset)["renditions"]?.elements ?? []
        #expect(shown.compactMap { $0["sha256"]?.text } == [made["output"]?["proxy"]?.text])
        await scene.broker.end(SIGTERM)
      }
      #expect(try await scene.broker.command(["gc", "--older-than", "0s"]).code == 0)
      #expect(try await scene.broker.command(["fsck"]).code == 0)
      #expect(try scene.objects().count == 2 * points.count)
      let staging = scene.broker.root.appending("library/staging")
      #expect(try Directory.entries(of: staging).isEmpty)
    }
  }
}
