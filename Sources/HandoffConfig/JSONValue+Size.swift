import HandoffProtocol

extension JSONValue {
  /// How many bytes the value takes as JSON on one line, at most.
  ///
  /// Counted and not encoded, because encoding could throw and nothing here can.
  var encodedSize: Int {
    switch self {
    case .null, .bool: 5
    case .integer(let value): String(value).utf8.count
    case .number(let value): String(value).utf8.count
    case .string(let text): Self.encodedSize(of: text)
    case .array(let elements): elements.reduce(2) { $0 + $1.encodedSize + 1 }
    case .object(let members):
      members.reduce(2) { $0 + Self.encodedSize(of: $1.key) + $1.value.encodedSize + 2 }
    }
  }

  private static func encodedSize(of text: String) -> Int {
    text.utf8.reduce(2) { size, byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): size + 2
      case 0..<0x20, 0x7F: size + 6
      default: size + 1
      }
    }
  }
}
