import HandoffPluginKit
import HandoffProtocol

/// What a destination's settings say of the words of its posts.
struct PostDefaults: Sendable {
  /// The text of a post.
  let text: TextTemplate
  /// The title of what has none.
  let title: TextTemplate?
  /// What the picture shows, where the sender does not say.
  let altText: TextTemplate?
  let visibility: String?
  let language: String?
  let tags: [String]

  private static let usualText = "{title}\n\n{description}\n\n{hashtags}"

  init(_ reader: SettingsReader) throws(ResultError) {
    text = try TextTemplate(try reader.text("text") ?? Self.usualText, setting: "text")
    title = try Self.template("title", reader)
    altText = try Self.template("alt_text", reader)
    visibility = try reader.text("visibility")
    language = try reader.text("language")
    tags = try reader.texts("tags") ?? []
    if title?.has(.title) == true {
      throw .notConfigured("settings.title has {title}, which it is itself")
    }
  }

  private static func template(
    _ name: String,
    _ reader: SettingsReader
  ) throws(ResultError) -> TextTemplate? {
    guard let text = try reader.text(name) else { return nil }
    return try TextTemplate(text, setting: name)
  }

  /// Throws `not_configured` for words that the platform does not know.
  func check(_ platform: any Platform.Type) throws(ResultError) {
    do {
      try PostWords.check(visibility: visibility, platform)
      try PostWords.check(language: language)
      _ = try PostWords.tags(tags)
    } catch {
      throw .notConfigured("settings.\(error.member) \(error.reason)")
    }
  }
}
