/// Texts in the query of a URL (RFC 3986, section 2.1): UTF-8, and every byte that is not unreserved as
/// `%HH`.
package enum PercentEncoding {
  /// The text with a space as `%20` and a plus sign as `%2B`, so that a reader of forms, for whom a plus
  /// sign is a space, reads the same.
  package static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The text that some bytes of a query stand for.
  ///
  /// A plus sign is one.
  static func decode(_ bytes: ArraySlice<UInt8>) throws(URLFault) -> String {
    var decoded: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value)
        else { throw URLFault("a percent sign without two hexadecimal digits") }
        decoded.append(high << 4 | low)
      } else if isUnreserved(byte) || delimiters.contains(byte) {
        decoded.append(byte)
      } else {
        throw URLFault("a character that has to be percent-encoded in a query")
      }
    }
    guard !decoded.contains(0) else { throw URLFault("a text with U+0000") }
    guard let text = String(validating: decoded, as: UTF8.self) else {
      throw URLFault("a text that is not UTF-8")
    }
    return text
  }

  private static let delimiters = Set("!$'()*+,;=:@/?".utf8)

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    byte.isNameByte || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

/// What is wrong with a URL, without its content.
struct URLFault: Error {
  let text: String

  init(_ text: String) {
    self.text = text
  }
}
