/// Refuses JSON that a decoder would read in a way that its writer may not have meant, or not survive.
///
/// RFC 8259 leaves open what a name given twice means, how deep nesting may go, and whether a text may
/// hold U+0000; decoders differ, and so could the two sides. The grammar itself is left to the decoder.
struct JSONGuard {
  /// The deepest nesting of arrays and objects.
  static let maximumDepth = 64

  private static let escapedNUL = Array("u0000".utf8)

  private let bytes: [UInt8]
  private var position = 0
  /// For each open object the names seen in it, for each open array nil.
  private var open: [Set<ArraySlice<UInt8>>?] = []
  /// The next text in an object is a name.
  private var expectsName = false

  /// Checks a document that is about to be decoded.
  ///
  /// - Returns: what is wrong, without content; nil if nothing is.
  static func fault(in bytes: [UInt8]) -> String? {
    var scan = JSONGuard(bytes)
    return scan.run()
  }

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private mutating func run() -> String? {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return "a byte order mark" }
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open.append(byte == UInt8(ascii: "{") ? [] : nil)
        expectsName = byte == UInt8(ascii: "{")
        if open.count > Self.maximumDepth { return "nested deeper than \(Self.maximumDepth)" }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = open.popLast()
        expectsName = false
      case UInt8(ascii: ","):
        if let innermost = open.last { expectsName = innermost != nil }
      case UInt8(ascii: "\""):
        if let fault = text() { return fault }
      case 0:
        return "not UTF-8, or U+0000"
      default:
        break
      }
    }
    return nil
  }

  /// Goes past a text whose first quotation mark has been read.
  private mutating func text() -> String? {
    let start = position
    var isEscaped = false
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      if bytes[position] == 0 { return "not UTF-8, or U+0000" }
      if bytes[position] == UInt8(ascii: "\\") {
        isEscaped = true
        position += 1
        if bytes[position...].starts(with: Self.escapedNUL) { return "a text with U+0000" }
      }
      position += 1
    }
    let content = bytes[start..<min(position, bytes.count)]
    position += 1
    guard expectsName, let last = open.indices.last else { return nil }
    expectsName = false
    // Names of the protocol need no escapes; one with an escape could be a second form of another.
    if isEscaped, content.contains(UInt8(ascii: "\\")), Self.escapesASCII(content) {
      return "a member's name with a needless escape"
    }
    if open[last]?.insert(content).inserted == false { return "a member given twice" }
    return nil
  }

  /// A `\u00NN` from 0x20 to 0x7F, which a name could spell without.
  private static func escapesASCII(_ content: ArraySlice<UInt8>) -> Bool {
    var rest = content
    while let escape = rest.firstIndex(of: UInt8(ascii: "\\")) {
      let after = rest[(escape + 1)...]
      let isShort = after.starts(with: Self.escapedNUL.prefix(3))
      if isShort, let digit = after.dropFirst(3).first, (0x32...0x37).contains(digit) {
        return true
      }
      rest = after.dropFirst()
    }
    return false
  }
}
