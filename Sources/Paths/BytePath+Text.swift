extension BytePath {
  /// The path as UTF-8 text, or nil if its bytes are not UTF-8.
  public var exactText: String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// The path as text, with U+FFFD for what is not UTF-8.
  ///
  /// For people; it may not lead back to the file.
  public var lossyText: String {
    String(decoding: bytes, as: UTF8.self)
  }

  /// The path on one line of a terminal or log: control characters, line separators, bidirectional
  /// overrides and bytes that are not UTF-8 are written as `\xNN` or `\u{N}`, a backslash doubled.
  public var displayText: String {
    guard let text = exactText else {
      return bytes.map { byte in
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\\")
          ? String(Unicode.Scalar(byte)) : Self.hexEscape(byte)
      }.joined()
    }
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
        shown +=
          scalar.value < 0x100
          ? Self.hexEscape(UInt8(scalar.value)) : "\\u{\(String(scalar.value, radix: 16))}"
      default:
        shown += scalar == "\\" ? "\\\\" : String(scalar)
      }
    }
    return shown
  }

  private static func hexEscape(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return "\\x" + (digits.count == 1 ? "0" : "") + digits
  }
}

extension BytePath: CustomStringConvertible {
  /// The path on one line; see ``displayText``.
  public var description: String { displayText }
}

extension BytePath: ExpressibleByStringLiteral {
  /// Makes a path of a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}
