import HandoffPluginKit
import HandoffProtocol

/// What a file's page says, and the comment of its upload, in which a handoff is known again.
struct MediaWikiPage: Sendable {
  private static let usual = """
    == Summary ==
    {description}
    """
  /// MediaWiki cuts a comment at 500 characters.
  private static let longestSummary = 400

  private let page: String?
  private let summary: String
  private let license: String?
  private let categories: [String]

  init(_ settings: PlatformSettings) throws(ResultError) {
    page = settings.text("page")
    summary = settings.text("summary") ?? "{title}"
    license = settings.text("license")
    switch settings.values["categories"] {
    case nil: categories = []
    case .array(let list):
      categories = list.compactMap(\.text)
      let isRight =
        categories.count == list.count
        && categories.allSatisfy { name in
          !name.isEmpty && !name.contains { "[]{}|<>#".contains($0) || $0.isNewline }
        }
      guard isRight else {
        throw .notConfigured("settings.categories has something that is no category's name")
      }
    default: throw .notConfigured("settings.categories is no list")
    }
  }

  /// The page's wikitext; what the sender has written in it is plain text.
  func text(_ post: Post) -> String {
    let links = categories.map { "[[Category:\($0)]]" }.joined(separator: "\n")
    let words = MediaWikiWords(post, isEscaped: true)
    let whole: String
    if let page {
      // Verbatim: they are the operator's own wikitext.
      whole = words.fill(page, ["license": license ?? "", "categories": links])
    } else {
      var parts = [words.fill(Self.usual)]
      if let license { parts.append("== License ==\n" + license) }
      if !links.isEmpty { parts.append(links) }
      whole = parts.joined(separator: "\n\n")
    }
    return whole + "\n<!-- handoff \(post.key) -->"
  }

  /// The comment of the upload: one line that ends in the handoff's mark.
  func comment(_ post: Post) -> String {
    let filled = MediaWikiWords(post, isEscaped: false).fill(summary)
    let line = filled.split(whereSeparator: \.isNewline).joined(separator: " ")
    return "\(line.prefix(Self.longestSummary)) \(Self.mark(post))"
  }

  /// How a handoff is known again.
  ///
  /// It is made of the key and says nothing of what is secret.
  static func mark(_ post: Post) -> String { "\(markStart)\(post.key.prefix(24)))" }
  private static let markStart = "(handoff "

  /// Whether some handoff is known by a comment.
  static func hasMark(_ comment: String) -> Bool { comment.contains(markStart) }
}
