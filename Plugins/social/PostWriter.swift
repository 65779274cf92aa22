import HandoffPluginKit
import HandoffProtocol

/// Makes the words of a post of a request, its metadata and the destination's settings.
struct PostWriter: Sendable {
  let post: Post
  /// What was changed so that it fits, one sentence each.
  let changes: [String]

  private static let longestTitle = 1000

  /// - Parameters:
  ///   - handoff: the request.
  ///   - defaults: of the settings.
  ///   - platform: whose words they must be.
  ///   - file: the export's name; nil before it is known.
  ///   - limits: of the service.
  /// - Throws: `ResultError` with effect `none` that names the member at fault.
  init(
    _ handoff: ReceivedHandoff,
    _ defaults: PostDefaults,
    _ platform: any Platform.Type,
    file: String?,
    limits: FurtherLimits
  ) throws(ResultError) {
    let words: RequestWords
    do {
      words = try RequestWords(handoff.metadata, defaults, platform)
    } catch {
      throw error.refusal
    }
    let name = file ?? "(name of the file)"
    let filling = Filling(words: words, metadata: handoff.metadata, file: name)
    let given = handoff.title?.trimmingSpace ?? ""
    let title =
      given.isEmpty ? defaults.title?.text { filling.text(of: $0, title: "") } ?? "" : given
    let fitting = try Self.fitted(filling, title, defaults.text, limits)
    changes = fitting.changes
    post = Post(
      key: handoff.idempotencyKey,
      title: String(Self.line(title.isEmpty ? name : title).prefix(Self.longestTitle)),
      text: fitting.text,
      description: words.description,
      tags: words.tags,
      language: words.language,
      altText: words.altText
        ?? defaults.altText.map { template in template.text { filling.text(of: $0, title: title) } }
        .flatMap { $0.isEmpty ? nil : $0 },
      visibility: words.visibility,
      scheduledAt: words.scheduledAt,
      metadata: handoff.metadata
    )
  }

  /// Cuts the description, and nothing else.
  private static func fitted(
    _ filling: Filling,
    _ title: String,
    _ template: TextTemplate,
    _ limits: FurtherLimits
  ) throws(ResultError) -> (text: String, changes: [String]) {
    func text(_ filling: Filling) -> String {
      template.text { filling.text(of: $0, title: title) }
    }
    let whole = text(filling)
    guard let most = limits.characters, limits.count(whole) > most else { return (whole, []) }
    var filling = filling
    let description = filling.words.description
    /// The text with so many characters of the description.
    func text(cutTo count: Int) -> String {
      let kept = String(description.prefix(count)).trimmingSpace
      filling.words.description = kept.isEmpty ? "" : kept + "…"
      return text(filling)
    }
    // The longest beginning that fits lies between what does and what does not.
    var (fits, tooMany) = (0, description.count)
    while tooMany - fits > 1 {
      let middle = (fits + tooMany) / 2
      if limits.count(text(cutTo: middle)) > most { tooMany = middle } else { fits = middle }
    }
    let cut = text(cutTo: fits)
    if !description.isEmpty, limits.count(cut) <= most {
      let length = filling.words.description.count
      let change =
        "The description of \(description.count) characters is cut to \(length): a post holds \(most)."
      return (cut, [change])
    }
    throw ResultError(
      .malformedRequest,
      "the post has \(limits.count(text(filling))) characters without its description, "
        + "at most \(most) are taken",
      effect: .none,
      remedy: "Shorten the title, the tags, or settings.text."
    )
  }

  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

/// What stands for the placeholders.
private struct Filling: Sendable {
  var words: RequestWords
  let metadata: JSONValue?
  let file: String

  func text(of placeholder: TextTemplate.Placeholder, title: String) -> String {
    switch placeholder {
    case .title: title
    case .description: words.description
    case .tags: words.tags.joined(separator: ", ")
    case .hashtags:
      words.tags.map(PostWords.hashtag).filter { !$0.isEmpty }.joined(separator: " ")
    case .file: file
    case .metadata(let name):
      switch metadata?[name] {
      case .string(let text): text
      case .integer(let number): String(number)
      case .number(let number): String(number)
      case .bool(let value): String(value)
      default: ""
      }
    }
  }
}

extension FurtherLimits {
  /// How many characters a text counts: a link as many as the service reserves for one.
  func count(_ text: String) -> Int {
    guard let charactersPerLink else { return text.count }
    return text.split(omittingEmptySubsequences: false) { $0.isWhitespace }
      .reduce(text.count { $0.isWhitespace }) { sum, word in
        let isLink = word.hasPrefix("https://") || word.hasPrefix("http://")
        return sum + (isLink ? charactersPerLink : word.count)
      }
  }
}
