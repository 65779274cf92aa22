/// A piece of an HTML document, in which interpolated text can never become markup.
///
/// `"<b>\(title)</b>"` escapes the title; only another piece goes in as it is.
struct PageMarkup: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The HTML.
  private(set) var text: String

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// Takes text that is markup already: style, script, what this program has written itself.
  init(verbatim text: String) { self.text = text }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    mutating func appendLiteral(_ literal: String) { text += literal }

    mutating func appendInterpolation(_ value: String) { text += PageMarkup.escaped(value) }

    /// A name, which may be broken after its low lines.
    mutating func appendInterpolation(breaking name: String) {
      for character in name {
        text += PageMarkup.escaped(String(character))
        if character == "_" { text += "<wbr>" }
      }
    }

    mutating func appendInterpolation(_ value: some FixedWidthInteger) { text += String(value) }

    mutating func appendInterpolation(_ piece: PageMarkup) { text += piece.text }

    /// Text that is markup already, or is in a place where it cannot become any.
    mutating func appendInterpolation(verbatim markup: String) { text += markup }

    /// Nothing where there is nothing.
    mutating func appendInterpolation(_ piece: PageMarkup?) { text += piece?.text ?? "" }
  }

  /// Text that cannot become markup, in content or in a quoted attribute.
  ///
  /// Control characters, which HTML does not allow, become the replacement character.
  static func escaped(_ text: String) -> String {
    var safe = ""
    safe.reserveCapacity(text.utf8.count)
    for character in text.unicodeScalars {
      switch character {
      case "&": safe += "&amp;"
      case "<": safe += "&lt;"
      case ">": safe += "&gt;"
      case "\"": safe += "&quot;"
      case "'": safe += "&#39;"
      case "\t", "\n": safe.unicodeScalars.append(character)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": safe += "\u{FFFD}"
      default: safe.unicodeScalars.append(character)
      }
    }
    return safe
  }

  /// JSON that stays what it is inside a `script` element: no end tag, no comment, no line separator.
  static func inScript(json: some Collection<UInt8>) -> PageMarkup {
    var safe = ""
    for character in String(decoding: json, as: UTF8.self).unicodeScalars {
      switch character {
      // They occur in JSON only inside texts, where an escape means the same.
      case "<": safe += #"\u003C"#
      case ">": safe += #"\u003E"#
      case "&": safe += #"\u0026"#
      case "\u{2028}": safe += #"\u2028"#
      case "\u{2029}": safe += #"\u2029"#
      default: safe.unicodeScalars.append(character)
      }
    }
    return PageMarkup(verbatim: safe)
  }

  /// A name as one step of a relative URL (RFC 3986): everything but unreserved characters encoded.
  ///
  /// `./` goes before it, so that no name is taken for a scheme.
  static func address(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = Array("./".utf8)
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Sequence<PageMarkup> {
  /// All pieces, a line each.
  func joined() -> PageMarkup {
    PageMarkup(verbatim: map(\.text).joined(separator: "\n"))
  }
}
