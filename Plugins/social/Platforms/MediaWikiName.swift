import HandoffPluginKit
import HandoffProtocol

/// Makes names of files that a wiki takes.
///
/// What it does not see, the wiki itself says: every name is looked up before it is used.
struct MediaWikiName: Sendable {
  /// MediaWiki keeps 15 of the 255 bytes for a timestamp.
  private static let longest = 240

  private let template: String

  init(_ template: String?) throws(ResultError) {
    self.template = template ?? "{title}.{ext}"
    guard !self.template.contains(where: \.isNewline) else {
      throw .notConfigured("settings.filename has more than one line")
    }
  }

  /// The names to try one after the other, the same for the same handoff: with a short mark where the first
  /// is taken.
  func candidates(_ post: Post, ending: String) -> [String] {
    let words = MediaWikiWords(post, isEscaped: false)
    var filled = words.fill(template, ["ext": ending, "key": String(post.key.prefix(8))])
    if filled.lowercased().hasSuffix("." + ending) { filled.removeLast(ending.count + 1) }
    let stem = Self.legal(filled)
    let marks = ["", " (\(post.key.prefix(8)))", " (\(post.key.prefix(16)))"]
    let named = marks.map { mark -> String in
      let room = Self.longest - ending.utf8.count - 1 - mark.utf8.count
      return "\(Self.cut(stem.isEmpty ? "Video" : stem, to: room))\(mark).\(ending)"
    }
    // Where the wiki takes no title of this kind at all, as those that cameras give.
    return named + ["Video \(post.key.prefix(16)).\(ending)"]
  }

  /// A title without what no title may have.
  static func legal(_ text: String) -> String {
    var legal = ""
    var previous: Unicode.Scalar = " "
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      guard let taken = replacement(scalar, previous: previous, next: next) else { continue }
      if taken == " ", previous == " " { continue }
      legal.unicodeScalars.append(taken)
      previous = taken
    }
    while let last = legal.last, last == " " || last == "." { legal.removeLast() }
    while let first = legal.first, first == " " || first == "." { legal.removeFirst() }
    return legal
  }

  private static func replacement(
    _ scalar: Unicode.Scalar,
    previous: Unicode.Scalar,
    next: Unicode.Scalar
  ) -> Unicode.Scalar? {
    switch scalar {
    case "[", "{": return "("
    case "]", "}": return ")"
    case "#", "<", ">", "|", "/", "\\", ":": return "-"
    case "_": return " "
    // Three of them are a signature.
    case "~": return previous == "~" ? "-" : "~"
    // As the escape of another character.
    case "%" where next.properties.isASCIIHexDigit: return "-"
    // As the name of another character.
    case "&" where next == "#" || (next.properties.isAlphabetic && next.isASCII): return "+"
    // As an ending, which the wiki may take for a program's.
    case "." where next.properties.isAlphabetic: return "-"
    default: break
    }
    if scalar.properties.isWhitespace { return " " }
    switch scalar.properties.generalCategory {
    case .control, .format, .privateUse, .surrogate, .unassigned: return nil
    default: return scalar.value == 0xFFFD ? nil : scalar
    }
  }

  /// The beginning, of whole characters.
  private static func cut(_ text: String, to room: Int) -> String {
    guard text.utf8.count > room else { return text }
    var kept = text
    while kept.utf8.count > room || kept.last == " " { kept.removeLast() }
    return kept
  }
}
