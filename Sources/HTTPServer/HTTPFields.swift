/// Names with values, in the order in which they came: header fields, or the members of a query.
package struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  package struct Field: Hashable, Sendable {
    package let name: String
    package let value: String
  }

  package private(set) var fields: [Field] = []

  package init() {}

  package init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  package mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// The first value; names of header fields are equal in any case of their ASCII letters.
  package subscript(_ name: String) -> String? { values(name).first }

  /// Every value, in order.
  package func values(_ name: String) -> [String] {
    fields.filter { Self.isEqual($0.name, name) }.map(\.value)
  }

  private static func isEqual(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count
      && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
