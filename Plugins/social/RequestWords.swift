import HandoffProtocol

/// What a request's `metadata` says of a post, with the settings' defaults where it says nothing.
struct RequestWords: Sendable {
  var description: String
  let tags: [String]
  let language: String?
  let visibility: String?
  /// Nil where the sender does not say.
  let altText: String?
  let scheduledAt: Timestamp?

  /// - Throws: what names the member that cannot be meant.
  init(
    _ metadata: JSONValue?,
    _ defaults: PostDefaults,
    _ platform: any Platform.Type
  ) throws(PostWords.Wrong) {
    func text(_ name: String) throws(PostWords.Wrong) -> String? {
      switch metadata?[name] {
      case nil, .null: return nil
      case .string(let text): return text.isEmpty ? nil : text
      default: throw PostWords.Wrong(name, "is no text")
      }
    }
    description = try text("description")?.trimmingSpace ?? ""
    altText = try text("alt_text")
    language = try text("language") ?? defaults.language
    visibility = try text("visibility") ?? defaults.visibility
    tags = try PostWords.tags(Self.tags(metadata?["tags"]) ?? defaults.tags)
    try PostWords.check(language: language)
    try PostWords.check(visibility: visibility, platform)
    scheduledAt = try Self.moment(text("scheduled_at"), platform)
  }

  private static func tags(_ value: JSONValue?) throws(PostWords.Wrong) -> [String]? {
    switch value {
    case nil, .null: return nil
    case .string(let text): return text.split(separator: ",").map(String.init)
    case .array(let list) where list.allSatisfy({ $0.text != nil }): return list.compactMap(\.text)
    default: throw PostWords.Wrong("tags", "is no list of texts")
    }
  }

  private static func moment(
    _ text: String?,
    _ platform: any Platform.Type
  ) throws(PostWords.Wrong) -> Timestamp? {
    guard let text else { return nil }
    guard let moment = Timestamp(rfc3339: text) else {
      throw PostWords.Wrong("scheduled_at", "is no time, as 2026-12-24T18:00:00+01:00")
    }
    guard platform.scheduleLead != nil else {
      throw PostWords.Wrong(
        "scheduled_at",
        "is given, and \(platform.name) publishes at once; the broker's publish_at waits"
      )
    }
    return moment
  }
}
