extension UInt8 {
  /// A letter or digit of ASCII.
  package var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default:
      false
    }
  }

  /// A letter or digit of ASCII, `_` or `-`: what configured names and base64url (RFC 4648) are made of.
  package var isNameByte: Bool {
    isLetterOrDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "-")
  }
}
