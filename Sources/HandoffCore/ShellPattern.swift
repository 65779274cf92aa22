package import Paths

/// A shell pattern for one name, matched on bytes: `*`, `?`, `[a-z]`, `[!a-z]` and `\x`, as fnmatch(3)
/// has them without flags, or with regard to no ASCII case (`FNM_CASEFOLD`).
package struct ShellPattern: Hashable, Sendable {
  private enum Element: Hashable {
    case byte(UInt8)
    case any
    case run
    case oneOf([ClosedRange<UInt8>], negated: Bool)
  }

  /// The pattern as it was written.
  package let text: String
  private let ignoresCase: Bool
  private let elements: [Element]
  /// What the pattern consists of besides one `*` at its beginning or end: most patterns are such, and
  /// are compared at once.
  private let tail: [UInt8]?
  private let head: [UInt8]?

  package init(_ text: String, ignoringCase ignoresCase: Bool = false) {
    self.text = text
    self.ignoresCase = ignoresCase
    elements = Self.elements(of: ignoresCase ? Self.folded(Array(text.utf8)) : Array(text.utf8))
    tail = elements.first == .run ? Self.bytes(of: elements.dropFirst()) : nil
    head = elements.last == .run ? Self.bytes(of: elements.dropLast()) : nil
  }

  /// In lower case (ASCII only).
  static func folded(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { (65...90).contains($0) ? $0 + 32 : $0 }
  }

  private static func bytes(of elements: ArraySlice<Element>) -> [UInt8]? {
    var bytes: [UInt8] = []
    for element in elements {
      guard case .byte(let byte) = element else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func elements(of text: [UInt8]) -> [Element] {
    var elements: [Element] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "*"):
        if elements.last != .run { elements.append(.run) }
      case UInt8(ascii: "?"):
        elements.append(.any)
      case UInt8(ascii: "\\"):
        elements.append(.byte(rest.popFirst() ?? byte))
      case UInt8(ascii: "["):
        elements.append(set(&rest) ?? .byte(byte))
      default:
        elements.append(.byte(byte))
      }
    }
    return elements
  }

  /// Reads a set behind its opening bracket; nil, and nothing taken, where the bracket never closes.
  private static func set(_ rest: inout ArraySlice<UInt8>) -> Element? {
    var bytes = rest
    var ranges: [ClosedRange<UInt8>] = []
    let isNegated = bytes.first == UInt8(ascii: "!") || bytes.first == UInt8(ascii: "^")
    if isNegated { bytes.removeFirst() }
    while var low = bytes.popFirst() {
      // A closing bracket in the first place stands for itself.
      if low == UInt8(ascii: "]"), !ranges.isEmpty {
        rest = bytes
        return .oneOf(ranges, negated: isNegated)
      }
      if low == UInt8(ascii: "\\") { low = bytes.popFirst() ?? low }
      var high = low
      if bytes.first == UInt8(ascii: "-"), let end = bytes.dropFirst().first,
        end != UInt8(ascii: "]")
      {
        high = end
        bytes.removeFirst(2)
      }
      if low <= high { ranges.append(low...high) }
    }
    return nil
  }

  /// The whole name matches.
  ///
  /// Takes time in the product of both lengths at most.
  package func matches(_ name: BytePath) -> Bool {
    matches(bytes: ignoresCase ? Self.folded(name.bytes) : name.bytes)
  }

  /// The whole name matches, which is in lower case if the pattern disregards case.
  func matches(bytes: [UInt8]) -> Bool {
    if let tail { return bytes.count >= tail.count && bytes.suffix(tail.count).elementsEqual(tail) }
    if let head { return bytes.starts(with: head) }
    return matches(elementwise: bytes)
  }

  private func matches(elementwise bytes: [UInt8]) -> Bool {
    var element = 0
    var index = 0
    // Where the last `*` stands, and up to where it has swallowed the name.
    var run: (element: Int, index: Int)?
    while index < bytes.count {
      if element < elements.count, case .run = elements[element] {
        run = (element, index)
        element += 1
      } else if element < elements.count, fits(elements[element], bytes[index]) {
        element += 1
        index += 1
      } else if let (start, swallowed) = run {
        run = (start, swallowed + 1)
        element = start + 1
        index = swallowed + 1
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { $0 == .run }
  }

  private func fits(_ element: Element, _ byte: UInt8) -> Bool {
    switch element {
    case .byte(let wanted): wanted == byte
    case .any, .run: true
    case .oneOf(let ranges, let isNegated): ranges.contains { $0.contains(byte) } != isNegated
    }
  }
}
