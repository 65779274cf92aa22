import HandoffProtocol

/// What holds for every refusal.
enum Refusals {
  /// As much of an input may be repeated; a state token has more.
  static let longestQuote = 24
  /// A sentence for a person, also where the input is a megabyte.
  static let longestMessage = 400

  /// The sentence is there, is one line, and holds nothing of the input that could be a token.
  static func check(_ message: String, of bytes: [UInt8]) throws {
    try checkSentence(message)
    try hold(message.utf8.count <= longestMessage, "a refusal of \(message.utf8.count) bytes")
    for run in message.utf8.split(whereSeparator: { !$0.isNameByte })
    where run.count > longestQuote {
      try hold(!occurs(Array(run), in: bytes), "a refusal that quotes \(run.count) bytes")
    }
  }

  /// The sentence is there and is one line.
  static func checkSentence(_ message: String) throws {
    try hold(!message.isEmpty, "a refusal without a sentence")
    let isPlain = message.unicodeScalars.allSatisfy { !$0.properties.isControl }
    try hold(isPlain, "a refusal with control characters")
  }

  private static func occurs(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    var rest = bytes[...]
    while let index = rest.firstIndex(of: first) {
      rest = rest[index...]
      if rest.starts(with: part) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

extension Unicode.Scalar.Properties {
  /// C0, DEL and C1: what could steer a terminal, or end a line of a log.
  fileprivate var isControl: Bool { generalCategory == .control }
}
