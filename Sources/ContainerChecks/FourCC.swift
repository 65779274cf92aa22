/// Four characters that name a box, a chunk or a codec.
package struct FourCC: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package init(stringLiteral text: StaticString) {
    rawValue = text.withUTF8Buffer { bytes in
      bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  /// The characters; what cannot be printed is a question mark.
  package var text: String {
    let scalars = [24, 16, 8, 0].map { shift -> Character in
      let byte = UInt8(truncatingIfNeeded: rawValue >> UInt32(shift))
      return (0x20..<0x7f).contains(byte) ? Character(UnicodeScalar(byte)) : "?"
    }
    return String(scalars)
  }
}
