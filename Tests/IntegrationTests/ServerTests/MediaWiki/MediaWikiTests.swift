import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// MediaWiki 1.39, whose API is that of Wikimedia Commons.
  @Suite("MediaWiki", .serialized, .wiki, .timeLimit(.minutes(5)))
  struct MediaWiki {
    /// Names of titles that no wiki takes as they are.
    private static let titles = [
      ("Part 1: <Day> #2 | [x] {y} / \\ z_", "Part 1- -Day- -2 - (x) (y) - - z.webm"),
      ("my.php.js  clip…", "My-php-js clip….webm"),
      ("..", "Video.webm"),
      ("100%25 &amp; ~~~~ \u{202E}ünï\u{7}cödé 🎬", "100-25 +amp; ~-~- ünïcödé 🎬.webm"),
    ]

    @Test("a title that is no name of a file becomes one", arguments: titles)
    func names(title: String, name: String) async throws {
      let delivery = try await WikiDelivery()
      let outcome = try await delivery.deliver(delivery.plugin(), title: title)
      try await delivery.expectPublished(outcome)
      #expect(outcome.output?["filename"]?.text == name)
      // Under the title's own name there is one file for ever.
      let other = try await WikiDelivery()
      let second = try await other.deliver(other.plugin(), title: title)
      try await other.expectPublished(second)
      #expect(second.output?["filename"]?.text?.contains(" (") == true)
      try delivery.expectNoSecrets()
    }

    @Test("a long title is cut at a character, and the prefixes of cameras are left")
    func longNames() async throws {
      let title = String(repeating: "ä🎬", count: 100)
      let delivery = try await WikiDelivery()
      let outcome = try await delivery.deliver(delivery.plugin(), title: title)
      try await delivery.expectPublished(outcome)
      let name = try #require(outcome.output?["filename"]?.text)
      #expect((230...240).contains(name.utf8.count))
      #expect(name.hasPrefix("Ä🎬ä🎬"))
      let camera = try await WikiDelivery()
      let second = try await camera.deliver(camera.plugin(), title: "DSC_0001")
      try await camera.expectPublished(second)
      #expect(second.output?["filename"]?.text?.hasPrefix("Video ") == true)
    }

    @Test("what a sender writes stays text, and the page has the settings' wikitext")
    func pages() async throws {
      let delivery = try await WikiDelivery()
      let plugin = delivery.plugin([
        "page": .string(
          "{{Information|description={{en|1={description}}}}}\n{license}\n{categories}"
        ),
        "license": .string("{{cc-by-4.0}}"),
        "categories": .array([.string("Films"), .string("Tests of uploads")]),
        "summary": .string("From the archive: {title}"),
      ])
      let metadata = JSONValue.object([
        "description": .string("a|b {{delete}} [[Category:Evil]] <b>x</b>\n* ~~~~")
      ])
      let outcome = try await plugin.deliver(
        delivery.submitted("Pages", metadata: metadata),
        delivery.asset.grants
      )
      let file = try await delivery.expectPublished(outcome)
      #expect(file["comment"]?.text?.hasPrefix("From the archive: Pages (handoff ") == true)
      let page = try await delivery.wiki.page("File:Pages.webm")
      #expect(page.categories.contains("Category:Films"))
      #expect(page.categories.contains("Category:Tests of uploads"))
      #expect(!page.categories.contains("Category:Evil"))
      let escaped =
        "a&#124;b &#123;&#123;delete&#125;&#125; &#91;&#91;Category:Evil&#93;&#93; "
        + "&#60;b&#62;x&#60;/b&#62;\n&#42; &#126;&#126;&#126;&#126;"
      #expect(page.text.contains("{{Information|description={{en|1=\(escaped)}}}}\n{{cc-by-4.0}}"))
    }

    @Test("the same bytes from somebody else are refused and named, or adopted")
    func twins() async throws {
      let delivery = try await WikiDelivery()
      try await delivery.wiki.upload(delivery.bytes, as: "Twin.webm")
      let refused = try await delivery.deliver(delivery.plugin(), title: "Mine")
      #expect(refused.failure?.code == .unsupportedMedia)
      #expect(refused.failure?.effect == Effect.none)
      #expect(refused.failure?.retry == .never)
      #expect(refused.failure?.message.contains("File:Twin.webm by Other") == true)
      let plugin = delivery.plugin(["duplicates": .string("adopt")])
      let adopted = try await delivery.deliver(plugin, title: "Mine", attempt: 2)
      #expect(adopted.output?["url"]?.text?.hasSuffix("/File:Twin.webm") == true)
      #expect(adopted.output?["adopted"] == .bool(true))
      #expect(try await delivery.wiki.files(delivery.bytes).count == 1)
    }

    @Test("the same video in another handoff is another one: refused, and told whose it is")
    func again() async throws {
      let first = try await WikiDelivery()
      let file = try await first.expectPublished(
        try await first.deliver(first.plugin(), title: "Again")
      )
      let second = try await WikiDelivery(first.bytes)
      let refused = try await second.deliver(second.plugin(), title: "Again, anew")
      #expect(refused.failure?.code == .unsupportedMedia)
      #expect(refused.failure?.effect == Effect.none)
      let page = file["descriptionurl"]?.text ?? "?"
      #expect(refused.failure?.message.contains("\(page) by Poster, for another handoff") == true)
      #expect(try await first.wiki.files(first.bytes).count == 1)
    }

    @Test("a wiki that never takes more than the first chunk is given up", .timeLimit(.minutes(1)))
    func stuck() async throws {
      let delivery = try await WikiDelivery()
      try delivery.wiki.behave(
        """
        if (isset($_FILES['chunk']) && ($_POST['offset'] ?? 0) > 0) {
          echo json_encode(['upload' =>
            ['result' => 'Continue', 'filekey' => $_POST['filekey'], 'offset' => 65536]]);
          exit;
        }
        """
      )
      let outcome = try await delivery.deliver(delivery.plugin(), title: "Stuck")
      try delivery.wiki.behave("")
      #expect(outcome.failure?.effect == Effect.none, "\(outcome)")
      #expect(outcome.failure?.message.contains("no more of the upload") == true, "\(outcome)")
      try await delivery.expectNothing()
    }

    @Test("a name that somebody has for something else is left alone")
    func takenName() async throws {
      let delivery = try await WikiDelivery()
      let others = try await delivery.wiki.video()
      try await delivery.wiki.upload(others, as: "Taken.webm")
      let outcome = try await delivery.deliver(delivery.plugin(), title: "Taken")
      try await delivery.expectPublished(outcome)
      #expect(outcome.output?["filename"]?.text?.hasPrefix("Taken (") == true)
      #expect(try await delivery.wiki.files(others).first?["name"]?.text == "Taken.webm")
      #expect(try await delivery.wiki.uploads(of: "Taken.webm") == 1)
    }

    @Test("a name that is taken while it is uploaded is left alone")
    func takenMeanwhile() async throws {
      let delivery = try await WikiDelivery()
      let others = try await delivery.wiki.video()
      try delivery.wiki.behave("$wgEnableAsyncUploads = true;")
      let outcome = try await heldInProcessing(delivery, title: "Soon taken") {
        try await delivery.wiki.upload(others, as: "Soon taken.webm")
      }
      try await delivery.expectPublished(outcome)
      #expect(outcome.output?["filename"]?.text?.hasPrefix("Soon taken (") == true)
      #expect(try await delivery.wiki.uploads(of: "Soon taken.webm") == 1)
    }

    @Test("what the wiki puts off is waited for, and published once")
    func asynchronous() async throws {
      let delivery = try await WikiDelivery()
      try delivery.wiki.behave("$wgEnableAsyncUploads = true;")
      let outcome = try await heldInProcessing(delivery, title: "Put off") {}
      try await delivery.expectPublished(outcome)
    }

    /// Delivers to a wiki that does nothing at once: what it has put off is done after the body.
    private func heldInProcessing(
      _ delivery: WikiDelivery,
      title: String,
      _ body: @Sendable () async throws -> Void
    ) async throws -> HandoffResult.Outcome {
      let outcome = try await delivery.plugin().run { broker, _ in
        for (identifier, asset) in delivery.asset.grants { broker.grant(identifier, asset) }
        let answer: SubmitAnswer = try await broker.ask(
          .submit,
          delivery.submitted(title)
        )
        #expect(answer.accepted)
        try await Self.untilHeld(broker, "the wiki is queued")
        try await body()
        #expect(try await delivery.wiki.files(delivery.bytes).isEmpty)
        try await delivery.wiki.run(.assembling)
        try await Self.untilHeld(broker, "the service has taken it")
        #expect(broker.received.isEmpty)
        try await delivery.wiki.run(.publishing)
        return try await broker.nextResult().outcome
      }
      try delivery.wiki.behave("")
      return outcome
    }

    private static func untilHeld(_ broker: TestBroker, _ message: String) async throws {
      let held = try await poll {
        broker.progress.contains { $0.message == message } ? true : nil
      }
      try #require(held == true, "\(broker.progress.last?.message ?? "no progress")")
    }
  }
}
