import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests.MediaWiki {
  private static func configuration(_ wiki: Wiki, _ root: BytePath, settings: String = "") -> String
  {
    Scene.configuration(
      handoff: ["wiki"],
      destinations: """
        [destination.wiki]
        transport = "plugin"
        command = ["handoff-social"]
        containment = "require"
        network = true
        read = ["\(root.lossyText)/secrets"]
        retry = { for = "1m", first = "100ms", max = "500ms" }
        [destination.wiki.settings]
        platform = "mediawiki"
        server = "\(wiki.url)"
        user = "\(Wiki.user)"
        token_file = "\(root.lossyText)/secrets/password"
        chunk_size = 65536
        poll_interval_s = 0.05
        in_flight_s = 0.5
        \(settings)
        """
    )
  }

  /// Runs a test with a broker whose every export goes to the wiki.
  private static func run(
    settings: String = "",
    _ body: nonisolated(nonsending) (Scene, Wiki) async throws -> Void
  ) async throws {
    let wiki = try Wiki.running()
    try await Scene.run("", starting: false) { scene in
      let root = scene.broker.root
      try scene.folder("secrets")
      try DurableFile.write(Array(Wiki.password.utf8), to: root.appending("secrets/password"))
      let text = configuration(wiki, root, settings: settings)
      try DurableFile.write(Array(text.utf8), to: scene.broker.config)
      try await scene.broker.start()
      try await body(scene, wiki)
    }
  }

  @Test("WebM and MP4 are published by the contained plugin, and come back as they were")
  func published() async throws {
    let settings = """
      license = "Free for all."
      categories = ["From Handoff"]
      """
    try await Self.run(settings: settings) { scene, wiki in
      let mp4 = try await Scene.video(wiki.number())
      for (name, bytes) in [("Day one.webm", try await wiki.video()), ("Day two.mp4", mp4)] {
        try scene.place(bytes, as: BytePath(name))
        let asset = try await scene.identifier(of: BytePath(name))
        let handoff = try await scene.handoff(of: asset, to: "wiki", is: "succeeded")
        let file = try #require(try await wiki.files(bytes).first)
        #expect(handoff["output"]?["url"] == file["descriptionurl"])
        #expect(handoff["output"]?["filename"]?.text == name)
        let url = try #require(handoff["output"]?["file_url"]?.text)
        #expect(try await wiki.download(url) == bytes)
        let page = try await wiki.page("File:\(name)")
        let stem = name.prefix { $0 != "." }
        #expect(
          page.text.hasPrefix(
            "== Summary ==\n\(stem)\n\n== License ==\nFree for all.\n\n[[Category:From Handoff]]\n"
          )
        )
        #expect(page.categories == ["Category:From Handoff"])
      }
    }
  }

  @Test("what the wiki does not take is told before the upload, and by a dry run")
  func toldBefore() async throws {
    try await Self.run { scene, wiki in
      let mkv = try ServerTests.bytes(try await SampleVideo.matroska.path())
      try scene.place(mkv, as: "no.mkv")
      let asset = try await scene.identifier(of: "no.mkv")
      let handoff = try await scene.handoff(of: asset, to: "wiki", is: "refused")
      #expect(handoff["error"]?["code"]?.text == "unsupported_media")
      #expect(handoff["error"]?["effect"]?.text == "none")
      let dry = try await scene.broker.command([
        "send", BytePath(asset), "--to", "wiki", "--dry-run", "--again", "--json",
      ])
      let report = try WireCoder.decode(JSONValue.self, from: dry.output).elements.first
      #expect(report?["error"]?["code"]?.text == "unsupported_media", "\(dry.errors)")
      #expect(report?["error"]?["side"]?.text == "receiver")
      // More than the wiki's 3 MiB.
      try await scene.writeLarge("large.mp4", number: wiki.number(), padding: 3 << 20)
      let large = try await scene.identifier(of: "large.mp4")
      let refused = try await scene.handoff(of: large, to: "wiki", is: "refused")
      #expect(refused["error"]?["code"]?.text == "size_out_of_range")
      #expect(refused["error"]?["effect"]?.text == "none")
    }
  }

  /// An element of Matroska that means nothing (RFC 8794, Void), with so many bytes in it.
  static func void(_ count: Int) -> [UInt8] {
    let size = (0..<8).map { UInt8(truncatingIfNeeded: (1 << 56 | count) >> (56 - 8 * $0)) }
    return [0xEC] + size + [UInt8](repeating: 0, count: count)
  }

  @Test("the broker, killed at every request of a delivery, ends it with one file")
  func brokerKilled() async throws {
    try await Self.run { scene, wiki in
      var number = 0
      var isKilled = true
      while isKilled {
        number += 1
        try #require(number < 40)
        let broker = try #require(scene.broker.processID)
        try wiki.behave(
          """
          if (str_starts_with($_SERVER['HTTP_USER_AGENT'] ?? '', 'handoff-social/')) {
            $count = (int)@file_get_contents("$handoffRoot/count-\(number)") + 1;
            file_put_contents("$handoffRoot/count-\(number)", $count);
            if ($count === \(number)) { posix_kill(\(broker), 9); }
          }
          """
        )
        let bytes = try await wiki.video()
        let name = "Broker \(number).webm"
        try scene.place(bytes, as: BytePath(name))
        let outcome = try await poll(within: .seconds(60)) { () -> Bool? in
          if try FileStatus.of(BytePath("/proc/\(broker)")) == nil { return true }
          let ended = try await scene.broker.command(["handoffs", "--json"])
          guard ended.code == 0 else { return nil }
          let handoffs = try WireCoder.decode(JSONValue.self, from: ended.output).elements
          return handoffs.contains { $0["output"]?["filename"]?.text == name } ? false : nil
        }
        guard let outcome else { throw TestSupportError("nothing happens at \(number)") }
        isKilled = outcome
        try wiki.behave("")
        if isKilled {
          await scene.broker.end(SIGKILL)
          try await scene.broker.start()
        }
        let asset = try await scene.identifier(of: BytePath(name))
        let handoff = try await scene.handoff(of: asset, to: "wiki", is: "succeeded")
        let files = try await wiki.files(bytes)
        #expect(files.count == 1)
        #expect(handoff["output"]?["url"] == files.first?["descriptionurl"])
        #expect(handoff["output"]?["filename"]?.text == name)
        #expect(try await wiki.uploads(of: name) == 1)
      }
      // The plugin is logged in already: it asks thrice, sends chunks, asks, and publishes.
      #expect(number >= 10)
    }
  }
}
