/// Base64url without padding; see RFC 4648, section 5.
enum Base64URL {
  static func text(of bytes: [UInt8]) -> String {
    let count = (bytes.count * 8 + 5) / 6
    return String(unsafeUninitializedCapacity: count) { text in
      var bits: UInt32 = 0
      var held = 0
      var written = 0
      for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        held += 8
        while held >= 6 {
          held -= 6
          text[written] = digit(bits >> UInt32(held) & 63)
          written += 1
        }
      }
      if held > 0 {
        text[written] = digit(bits << UInt32(6 - held) & 63)
        written += 1
      }
      return written
    }
  }

  private static func digit(_ value: UInt32) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: value)
    return switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + value - 26
    case 52..<62: UInt8(ascii: "0") + value - 52
    case 62: UInt8(ascii: "-")
    default: UInt8(ascii: "_")
    }
  }
}
