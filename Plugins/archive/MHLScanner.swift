/// Reads the XML of ASC MHL files, as far as they use it: elements, attributes, text and references.
///
/// Names come without their prefix. Comments, processing instructions and what XML allows besides are passed over;
/// a document type is refused, since nobody needs one there.
struct MHLScanner {
  /// What comes next.
  enum Event {
    case start(String, [String: String])
    case text([UInt8])
    case end(String)
  }

  /// It is no XML of that kind.
  struct Malformed: Error {}

  private let bytes: [UInt8]
  private var place = 0
  private var openEmpty: String?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The next event; nil at the end.
  mutating func next() throws(Malformed) -> Event? {
    if let name = openEmpty {
      openEmpty = nil
      return .end(name)
    }
    while place < bytes.count {
      guard bytes[place] == UInt8(ascii: "<") else {
        let end = find("<", from: place) ?? bytes.count
        defer { place = end }
        return .text(try Self.resolved(bytes[place..<end]))
      }
      if starts("<!--") {
        try skip(past: "-->")
      } else if starts("<?") {
        try skip(past: "?>")
      } else if starts("<!") {
        throw Malformed()
      } else {
        return try tag()
      }
    }
    return nil
  }

  private mutating func tag() throws(Malformed) -> Event {
    guard let end = endOfTag() else { throw Malformed() }
    var inner = bytes[(place + 1)..<end]
    place = end + 1
    if inner.first == UInt8(ascii: "/") { return .end(Self.localName(inner.dropFirst())) }
    let isEmpty = inner.last == UInt8(ascii: "/")
    if isEmpty { inner = inner.dropLast() }
    let name = Self.localName(inner.prefix { !Self.isSpace($0) })
    if isEmpty { openEmpty = name }
    return .start(name, try Self.attributes(inner.drop { !Self.isSpace($0) }))
  }

  /// The next `>` outside of quotes.
  private func endOfTag() -> Int? {
    var quote: UInt8?
    for index in place..<bytes.count {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return index
      }
    }
    return nil
  }

  private static func attributes(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> [String: String] {
    var found: [String: String] = [:]
    var rest = bytes.drop(while: isSpace)
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let name = localName(rest[..<equals].filter { !isSpace($0) }[...])
      rest = rest[(equals + 1)...].drop(while: isSpace)
      guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
        let end = rest.dropFirst().firstIndex(of: quote)
      else { throw Malformed() }
      let value = try resolved(rest[(rest.startIndex + 1)..<end])
      found[name] = String(decoding: value, as: UTF8.self)
      rest = rest[(end + 1)...].drop(while: isSpace)
    }
    return found
  }

  private static func localName(_ bytes: ArraySlice<UInt8>) -> String {
    let trimmed = bytes.filter { !isSpace($0) }
    let colon = trimmed.lastIndex(of: UInt8(ascii: ":"))
    return String(decoding: trimmed[(colon.map { $0 + 1 } ?? 0)...], as: UTF8.self)
  }

  /// Text with its references replaced by what they stand for.
  private static func resolved(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> [UInt8] {
    guard bytes.contains(UInt8(ascii: "&")) else { return Array(bytes) }
    var text: [UInt8] = []
    var rest = bytes
    while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
      guard let end = rest[mark...].firstIndex(of: UInt8(ascii: ";")) else { throw Malformed() }
      text += rest[..<mark]
      text += try character(String(decoding: rest[(mark + 1)..<end], as: UTF8.self))
      rest = rest[(end + 1)...]
    }
    return text + rest
  }

  private static func character(_ reference: String) throws(Malformed) -> [UInt8] {
    let named = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
    if let text = named[reference] { return Array(text.utf8) }
    let number =
      reference.hasPrefix("#x")
      ? UInt32(reference.dropFirst(2), radix: 16) : UInt32(reference.dropFirst())
    guard reference.hasPrefix("#"), let scalar = number.flatMap(Unicode.Scalar.init) else {
      throw Malformed()
    }
    return Array(String(scalar).utf8)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }

  private func starts(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes[place...].starts(with: $0) }
  }

  private func find(_ character: Unicode.Scalar, from start: Int) -> Int? {
    bytes[start...].firstIndex(of: UInt8(ascii: character))
  }

  private mutating func skip(past text: String) throws(Malformed) {
    let wanted = Array(text.utf8)
    while place < bytes.count {
      if bytes[place...].starts(with: wanted) {
        place += wanted.count
        return
      }
      place += 1
    }
    throw Malformed()
  }
}
