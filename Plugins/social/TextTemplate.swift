import HandoffPluginKit
import HandoffProtocol

/// A text with placeholders in braces: `{title}`, `{description}`, `{tags}`, `{hashtags}`, `{file}` and
/// `{metadata.NAME}`.
struct TextTemplate: Hashable, Sendable {
  /// What stands for a placeholder.
  enum Placeholder: Hashable, Sendable {
    case title
    case description
    /// Separated by commas.
    case tags
    /// Each with `#`, separated by spaces.
    case hashtags
    /// The export's name without its ending.
    case file
    /// A member of the sender's own.
    case metadata(String)

    init?(_ name: Substring) {
      switch name {
      case "title": self = .title
      case "description": self = .description
      case "tags": self = .tags
      case "hashtags": self = .hashtags
      case "file": self = .file
      default:
        guard name.hasPrefix("metadata."), name.utf8.count > 9 else { return nil }
        self = .metadata(String(name.dropFirst(9)))
      }
    }
  }

  private enum Piece: Hashable, Sendable {
    case text(String)
    case placeholder(Placeholder)
  }

  private let pieces: [Piece]

  /// Reads a template.
  ///
  /// - Parameters:
  ///   - text: `{{` and `}}` stand for the braces themselves.
  ///   - setting: its name, for errors.
  /// - Throws: `not_configured` for a placeholder that stands for nothing, or braces without their partner.
  init(_ text: String, setting: String) throws(ResultError) {
    var pieces: [Piece] = []
    var plain = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        plain.append(character)
        rest.removeFirst()
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw .notConfigured("settings.\(setting) has a { without its }")
        }
        guard let placeholder = Placeholder(rest[..<end]) else {
          throw .notConfigured(
            "settings.\(setting) has {\(rest[..<end])}, which stands for nothing",
            remedy: "There are {title}, {description}, {tags}, {hashtags}, {file}, {metadata.NAME}."
          )
        }
        pieces += [.text(plain), .placeholder(placeholder)]
        plain = ""
        rest = rest[rest.index(after: end)...]
      case "}": throw .notConfigured("settings.\(setting) has a } without its {")
      default: plain.append(character)
      }
    }
    self.pieces = pieces + [.text(plain)]
  }

  /// Whether something would take the place of this one.
  func has(_ placeholder: Placeholder) -> Bool {
    pieces.contains(.placeholder(placeholder))
  }

  /// The text; lines that empty placeholders have left empty are folded into one, and none is left at its
  /// beginning and end.
  func text(_ value: (Placeholder) -> String) -> String {
    let whole = pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .placeholder(let placeholder): value(placeholder)
      }
    }
    return Self.folded(whole.joined())
  }

  private static func folded(_ text: String) -> String {
    var lines: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = line
      while let last = line.last, last.isWhitespace { line.removeLast() }
      if line.isEmpty, lines.last?.isEmpty ?? true { continue }
      lines.append(line)
    }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.joined(separator: "\n")
  }
}
