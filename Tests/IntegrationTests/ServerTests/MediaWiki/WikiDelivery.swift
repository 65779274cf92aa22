import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// One video, and the plugin that publishes it on the suite's wiki.
struct WikiDelivery: Sendable {
  let wiki: Wiki
  /// No other handoff has it: what tells a handoff's files from another's is made of it.
  let id: String
  let scratch: Scratch
  let bytes: [UInt8]
  let asset: Granted

  /// Of a new video, unless bytes are given.
  init(_ bytes: [UInt8]? = nil, container: String = "webm") async throws {
    wiki = try Wiki.running()
    id = "h\(wiki.number())"
    scratch = try Scratch()
    let video: [UInt8]
    if let bytes { video = bytes } else { video = try await wiki.video() }
    self.bytes = video
    var asset = try Granted(video, named: BytePath("export.\(container)"), in: scratch)
    asset.asset.container = container
    self.asset = asset
  }

  /// The plugin; it sends four chunks.
  func plugin(
    password: String = Wiki.password,
    _ more: [String: JSONValue] = [:]
  ) -> PluginUnderTest {
    let settings: [String: JSONValue] = [
      "platform": .string("mediawiki"), "server": .string(wiki.url), "user": .string(Wiki.user),
      "token_env": .string("WIKI_PASSWORD"), "chunk_size": .integer(65_536),
      "poll_interval_s": .number(0.05), "in_flight_s": .number(0.5),
    ]
    return PluginUnderTest(
      name: "handoff-social",
      settings: .object(settings.merging(more) { $1 }),
      work: scratch.work,
      environment: ["WIKI_PASSWORD=\(password)"]
    )
  }

  func submitted(_ title: String, attempt: Int = 1, metadata: JSONValue? = nil) -> SubmitParameters
  {
    submission(id, [asset.identifier], title: title, attempt: attempt, metadata: metadata)
  }

  /// Hands it off, once.
  func deliver(
    _ plugin: PluginUnderTest,
    title: String,
    attempt: Int = 1
  ) async throws -> HandoffResult.Outcome {
    try await plugin.deliver(submitted(title, attempt: attempt), asset.grants)
  }

  /// The wiki has it once, and the outcome says so.
  @discardableResult
  func expectPublished(_ outcome: HandoffResult.Outcome) async throws -> JSONValue {
    let files = try await wiki.files(bytes)
    #expect(files.count == 1)
    let file = try #require(files.first, "\(outcome)")
    #expect(outcome.output?["url"] == file["descriptionurl"], "\(outcome)")
    #expect(file["user"]?.text == "Poster")
    #expect(try await wiki.uploads(of: file["name"]?.text ?? "") == 1)
    return file
  }

  func expectNothing() async throws {
    #expect(try await wiki.files(bytes).isEmpty)
  }

  /// What the plugin has logged and recorded has no secret in it.
  func expectNoSecrets() throws {
    let log = try ServerTests.bytes(scratch.work.appending("log"))
    let text = String(decoding: log, as: UTF8.self)
    for secret in [Wiki.password, "secret-of", "session=", "+\\"] {
      #expect(!text.contains(secret))
    }
  }
}
