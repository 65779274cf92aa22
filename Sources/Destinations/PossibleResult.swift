import HandoffProtocol

/// What stands where a receiver's result document may stand: pure.
///
/// What was meant as one and cannot be read is told apart from what is none: a receiver that wants to
/// say that it failed must never be taken for one that said nothing.
enum PossibleResult: Sendable {
  /// Something else: the exit code or the status decides.
  case none
  /// A JSON object with `protocol_version`, and its size in bytes.
  case document(JSONValue, size: Int)
  /// It was meant as a document, or may have been; and what is wrong with it.
  case unreadable(String)

  /// What a whole text is.
  ///
  /// Where it must be JSON, any other text is unreadable too.
  init(of text: some Collection<UInt8>, mustBeJSON: Bool = false) {
    let text = Self.trimmed(Array(text))
    let bare = Self.withoutMark(text)
    let isMeant = mustBeJSON || bare.first == UInt8(ascii: "{") || Self.isNamed(in: text)
    self = text.isEmpty || !isMeant ? .none : Self.read(text)
  }

  /// What the end of an output is: its last line that is not blank, or an object over several lines.
  init(atEndOf output: [UInt8]) {
    let lines = output.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      .map { Self.trimmed(Array($0)) }.filter { !$0.isEmpty }
    guard let last = lines.last else {
      self = .none
      return
    }
    let whole = PossibleResult(of: last)
    if case .none = whole, Self.isPiece(last), Self.opens(lines.dropLast()) {
      self = .unreadable("it is not on one line")
    } else {
      self = whole
    }
  }

  private static func read(_ text: [UInt8]) -> PossibleResult {
    do {
      if text.count != withoutMark(text).count { return .unreadable("it begins with a mark") }
      let value = try WireCoder.decode(JSONValue.self, from: text, limit: .max)
      if value["protocol_version"] != nil { return .document(value, size: text.count) }
      if case .object = value { return .none }
      return isNamed(in: text) ? .unreadable("not an object") : .none
    } catch {
      return .unreadable((error as? ProtocolError)?.message ?? "not JSON")
    }
  }

  // MARK: Several lines

  /// The last line can be the end of a JSON object, whole or cut.
  private static func isPiece(_ line: [UInt8]) -> Bool {
    // A whole object is an ordinary line.
    guard let first = line.first, let last = line.last, first != UInt8(ascii: "{") else {
      return false
    }
    return "\"}[]".utf8.contains(first) || "}],:{[".utf8.contains(last)
  }

  /// Some line begins an object that goes on after it, and `protocol_version` is named from there on.
  private static func opens(_ lines: ArraySlice<[UInt8]>) -> Bool {
    var isNamed = false
    for line in lines.reversed() {
      isNamed = isNamed || Self.isNamed(in: line)
      guard withoutMark(line).first == UInt8(ascii: "{") else { continue }
      switch PossibleResult(of: line) {
      // A whole document that is not the last line is only log.
      case .document: return false
      case .none: continue
      case .unreadable: if isNamed { return true }
      }
    }
    return false
  }

  // MARK: Bytes

  /// Blanks of any writing: a zero byte is one half of a blank in UTF-16.
  private static func trimmed(_ text: [UInt8]) -> [UInt8] {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0 || byte == 0x20 || (9...13).contains(byte) }
    guard let start = text.firstIndex(where: { !isBlank($0) }),
      let end = text.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return Array(text[start...end])
  }

  /// Without the byte order marks of UTF-8 and UTF-16 that some programs begin with, and blanks.
  private static func withoutMark(_ text: [UInt8]) -> [UInt8] {
    for mark: [UInt8] in [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]] {
      if text.starts(with: mark) { return withoutMark(trimmed(Array(text.dropFirst(mark.count)))) }
    }
    return text
  }

  private static let name = Array("protocol_version".utf8)

  private static func isNamed(in text: [UInt8]) -> Bool {
    // Without zero bytes, so that it is found in UTF-16 too.
    let text = text.filter { $0 != 0 }
    guard text.count >= name.count else { return false }
    return (0...text.count - name.count).contains { place in
      text[place] == name[0] && text[place...].starts(with: name)
    }
  }
}
