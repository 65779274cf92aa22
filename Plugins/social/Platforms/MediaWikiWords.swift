import HandoffPluginKit
import HandoffProtocol

/// The words that stand in braces in the templates of a wiki.
///
/// Unlike in other texts, braces that enclose no word stand for themselves: wikitext is full of them.
struct MediaWikiWords: Sendable {
  private let values: [String: String]
  private let metadata: JSONValue?
  private let isEscaped: Bool

  /// - Parameters:
  ///   - post: what is published.
  ///   - isEscaped: what comes from the sender is made plain text of a page.
  init(_ post: Post, isEscaped: Bool) {
    values = [
      "title": post.title, "text": post.text, "tags": post.tags.joined(separator: ", "),
      "description": post.description.isEmpty ? post.title : post.description,
      "language": post.language ?? "en",
    ]
    metadata = post.metadata
    self.isEscaped = isEscaped
  }

  /// Fills a template in; further words stand for what they say, as it is.
  func fill(_ template: String, _ further: [String: String] = [:]) -> String {
    var filled = ""
    var rest = template[...]
    while let open = rest.firstIndex(of: "{") {
      filled += rest[..<open]
      let after = rest[rest.index(after: open)...]
      if let close = after.firstIndex(where: { $0 == "}" || $0 == "{" }), after[close] == "}",
        let value = value(of: String(after[..<close]), further)
      {
        filled += value
        rest = after[after.index(after: close)...]
      } else {
        filled += "{"
        rest = after
      }
    }
    return filled + rest
  }

  private func value(of word: String, _ further: [String: String]) -> String? {
    if let value = further[word] { return value }
    let value: String
    if word.hasPrefix("metadata.") {
      switch metadata?[String(word.dropFirst(9))] {
      case .string(let text): value = text
      case .integer(let number): value = String(number)
      case .number(let number): value = String(number)
      case .bool(let flag): value = String(flag)
      default: value = ""
      }
    } else if let known = values[word] {
      value = known
    } else {
      return nil
    }
    return isEscaped ? Self.escaped(value) : value
  }

  /// What makes a line more than text, where it begins with it.
  private static let listMarks: Set<Unicode.Scalar> = ["*", "#", ":", ";", "-", " "]

  /// Plain text for a page: nothing in it is a template, a link, a tag or a signature, and none of its lines a
  /// heading or a list.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    var isAtStart = true
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&", "<", ">", "[", "]", "{", "}", "|", "~", "=", "'", "_":
        escaped += "&#\(scalar.value);"
      case _ where isAtStart && Self.listMarks.contains(scalar):
        escaped += "&#\(scalar.value);"
      default: escaped.unicodeScalars.append(scalar)
      }
      isAtStart = scalar == "\n"
    }
    return escaped
  }
}
