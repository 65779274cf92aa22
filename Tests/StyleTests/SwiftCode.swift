/// Takes the comments and texts out of Swift, so that what they say is not taken for code.
struct SwiftCode {
  private let bytes: [UInt8]
  private var position = 0
  private var kept: [UInt8] = []

  /// The code alone, with the same lines; each text is left as two quotation marks.
  static func withoutTexts(_ text: String) -> String {
    var scan = SwiftCode(Array(text.utf8))
    scan.run()
    return String(decoding: scan.kept, as: UTF8.self)
  }

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private mutating func run() {
    while position < bytes.count {
      if skip("//") {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
      } else if skip("/*") {
        skipUntil("*/")
      } else if bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "#") {
        skipText()
      } else {
        kept.append(bytes[position])
        position += 1
      }
    }
  }

  /// Goes past a text of one line or several, with any number of number signs around it.
  ///
  /// What is interpolated goes with it, up to its first quotation mark: no rule looks at that.
  private mutating func skipText() {
    var signs = ""
    while position < bytes.count, bytes[position] == UInt8(ascii: "#") {
      signs += "#"
      position += 1
    }
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
      kept += signs.utf8
      return
    }
    kept += "\"\"".utf8
    let isLong = skip("\"\"\"")
    if !isLong { position += 1 }
    let end = (isLong ? "\"\"\"" : "\"") + signs
    while position < bytes.count, !skip(end) {
      if skip("\\" + signs) {
        position += 1
      } else {
        if bytes[position] == UInt8(ascii: "\n") {
          kept.append(bytes[position])
          if !isLong { return }
        }
        position += 1
      }
    }
  }

  private mutating func skipUntil(_ end: String) {
    while position < bytes.count, !skip(end) {
      if bytes[position] == UInt8(ascii: "\n") { kept.append(bytes[position]) }
      position += 1
    }
  }

  private mutating func skip(_ text: String) -> Bool {
    var next = position
    for byte in text.utf8 {
      guard next < bytes.count, bytes[next] == byte else { return false }
      next += 1
    }
    position = next
    return true
  }
}
