import HandoffProtocol
import HandoffTestSupport
import MastodonStandIn
import Testing

@Suite("social: words and limits", .timeLimit(.minutes(2)))
struct SocialWordsTests {
  @Test("title, description, tags, language, visibility and alternative text reach the status")
  func words() async throws {
    let scene = try SocialScene(settings: ["language": .string("en")])
    let outcome = try await scene.deliver(metadata: [
      "description": .string("What it is about."),
      "tags": .array([.string("#night"), .string("blue hour"), .string("night")]),
      "language": .string("de"), "visibility": .string("unlisted"),
      "alt_text": .string("A lamp"),
    ])
    #expect(outcome.output != nil)
    let status = try #require(scene.server.statuses.first)
    #expect(status.text == "A title\n\nWhat it is about.\n\n#night #BlueHour")
    #expect(status.language == "de")
    #expect(status.visibility == "unlisted")
    #expect(scene.server.uploads.first?.description == "A lamp")
  }

  @Test("templates fill in what a destination says, and fold what stays empty")
  func templates() async throws {
    let scene = try SocialScene(settings: [
      "text": .string(
        "{{{title}}} {metadata.project} {metadata.take}\n\n{description}\n\n{tags} ({file})"
      ),
      "title": .string("Rushes of {metadata.project}"), "alt_text": .string("{title}"),
      "tags": .array([.string("rushes"), .string("raw")]),
    ])
    let metadata: [String: JSONValue] = ["project": .string("Aurora"), "take": .integer(7)]
    _ = try await scene.deliver(title: nil, metadata: metadata)
    let status = try #require(scene.server.statuses.first)
    #expect(status.text == "{Rushes of Aurora} Aurora 7\n\nrushes, raw (clip_7)")
    #expect(scene.server.uploads.first?.description == "Rushes of Aurora")
  }

  @Test("a description that is too long is cut, the title and the tags never are")
  func cut() async throws {
    var rules = StandInRules()
    rules.maxCharacters = 60
    let scene = try SocialScene(rules: rules)
    let metadata: [String: JSONValue] = [
      "description": .string(String(repeating: "wörd ", count: 30)), "tags": .string("one, two"),
    ]
    let dry = try await scene.preflight(metadata: metadata)
    #expect(dry.accepted)
    #expect(dry.changes.contains { $0.contains("cut") })
    #expect(scene.server.uploads.isEmpty)
    _ = try await scene.deliver(metadata: metadata)
    let text = try #require(scene.server.statuses.first).text
    #expect((50...60).contains(text.count))
    #expect(text.hasPrefix("A title\n\nwörd "))
    #expect(text.hasSuffix("…\n\n#one #two"))
    let other = try SocialScene(rules: rules)
    let long = String(repeating: "t", count: 61)
    let outcome = try await other.deliver(title: long, metadata: metadata)
    #expect(outcome.failure?.code == .malformedRequest)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(other.server.uploads.isEmpty)
  }

  @Test("a link counts what the server reserves for one")
  func links() async throws {
    var rules = StandInRules()
    rules.maxCharacters = 1000
    let scene = try SocialScene(rules: rules)
    let link = "https://example.net/" + String(repeating: "x", count: 200)
    let metadata: [String: JSONValue] = [
      "description": .string("\(link) " + String(repeating: "y", count: 900))
    ]
    let dry = try await scene.preflight(metadata: metadata)
    #expect(dry.accepted && dry.changes.isEmpty)
  }

  @Test("a long link at the end of what is too long is cut off at once", .timeLimit(.minutes(1)))
  func longLink() async throws {
    let scene = try SocialScene()
    let words = String(repeating: "word ", count: 99)
    let link = "https://example.net/" + String(repeating: "x", count: 60_000)
    _ = try await scene.deliver(metadata: ["description": .string("\(words)\(link)")])
    let text = try #require(scene.server.statuses.first).text
    #expect(text.hasPrefix("A title\n\nword word"))
    #expect(text.count <= 500)
  }

  @Test(
    "metadata that cannot be meant is refused, and the message names the member",
    arguments: [
      ("visibility", JSONValue.string("foo")), ("scheduled_at", .string("tomorrow")),
      ("scheduled_at", .string("2020-01-01T00:00:00Z")), ("tags", .integer(7)),
      ("description", .array([])), ("language", .string("german")), ("alt_text", .bool(true)),
    ]
  )
  func wrongMetadata(member: String, value: JSONValue) async throws {
    let scene = try SocialScene()
    let outcome = try await scene.deliver(metadata: [member: value])
    #expect(outcome.failure?.code == .malformedRequest)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(outcome.failure?.message.contains("metadata.\(member)") == true)
    #expect(scene.server.uploads.isEmpty)
  }

  @Test("what the server does not take is refused before a byte is sent, and by a dry run")
  func limits() async throws {
    func refusal(
      _ change: (inout StandInRules) -> Void = { _ in },
      asset: (inout ResolvedAsset) -> Void = { _ in }
    ) async throws -> ErrorCode? {
      var rules = StandInRules()
      change(&rules)
      var scene = try SocialScene(rules: rules)
      asset(&scene.file.asset)
      let outcome = try await scene.deliver()
      let dry = try await scene.preflight()
      #expect(dry.error?.code == outcome.failure?.code)
      #expect(scene.server.uploads.isEmpty == (outcome.failure != nil))
      if let failure = outcome.failure { #expect(failure.effect == Effect.none) }
      return outcome.failure?.code
    }
    #expect(try await refusal() == nil)
    #expect(try await refusal { $0.maxSize = 1000 } == .sizeOutOfRange)
    let old: (inout StandInRules) -> Void = {
      $0.maxSize = 1000
      $0.instance = .version1
    }
    #expect(try await refusal(old) == .sizeOutOfRange)
    #expect(try await refusal(asset: { $0.container = "matroska" }) == .unsupportedMedia)
    let large: (inout ResolvedAsset) -> Void = {
      $0.width = 7680
      $0.height = 4320
    }
    #expect(try await refusal(asset: large) == .unsupportedMedia)
    #expect(try await refusal { $0.instance = .none } == nil)
  }

  @Test("a server that tells no limits refuses by itself, and the size is the reason")
  func refusedThere() async throws {
    var rules = StandInRules()
    rules.maxSize = 1000
    rules.instance = .none
    let scene = try SocialScene(rules: rules)
    let dry = try await scene.preflight()
    #expect(dry.accepted)
    #expect(dry.changes.contains { $0.contains("could not be asked") })
    let outcome = try await scene.deliver()
    #expect(outcome.failure?.code == .sizeOutOfRange)
    #expect(outcome.failure?.effect == Effect.none)
  }

  @Test(
    "the doctor is told of account, limits, a wrong token, a missing scope and a server that is away"
  )
  func checks() async throws {
    let right = try await SocialScene().checks()
    #expect(right.values.allSatisfy(\.passed) && right.count == 3)
    #expect(right["credentials"]?.detail.contains("@demo") == true)
    #expect(right["limits"]?.detail.contains("103809024 bytes") == true)
    let wrong = try await SocialScene(token: "another").checks()
    #expect(wrong["reachable"]?.passed == true)
    #expect(wrong["credentials"]?.passed == false)
    #expect(wrong["credentials"]?.remedy?.contains("write:media") == true)
    var rules = StandInRules()
    rules.scopes = ["read", "write:statuses"]
    let narrow = try await SocialScene(rules: rules).checks()
    #expect(narrow["credentials"]?.passed == false)
    #expect(narrow["credentials"]?.detail.contains("write:media") == true)
    let scene = try SocialScene()
    await scene.server.stop()
    let away = try await scene.checks()
    #expect(away["reachable"]?.passed == false)
    #expect(scene.server.statuses.isEmpty && scene.server.uploads.isEmpty)
  }
}
