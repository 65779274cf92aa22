/// How a member of a document stands in a query, where everything is text.
enum MemberShape {
  case text
  /// Decimal digits.
  case integer
  /// `true` or `false`.
  case flag
  /// Once for each element, in their order.
  case texts
  /// The value as JSON.
  case json

  /// The texts that stand for a value; nil for a value of another shape.
  func texts(of value: JSONValue) throws -> [String]? {
    switch (self, value) {
    case (.text, .string(let text)): [text]
    case (.integer, .integer(let number)): [String(number)]
    case (.flag, .bool(let flag)): [flag ? "true" : "false"]
    case (.texts, .array(let elements)):
      elements.allSatisfy { $0.text != nil } ? elements.compactMap(\.text) : nil
    case (.json, _): [String(decoding: try WireCoder.encode(value), as: UTF8.self)]
    case (.text, _), (.integer, _), (.flag, _), (.texts, _): nil
    }
  }

  /// The value that a text stands for; an element of it, where it is one of several.
  ///
  /// - Parameters:
  ///   - text: as it stood in the query, decoded.
  ///   - name: the member's, for the fault.
  /// - Returns: the value.
  /// - Throws: ``URLFault`` for a text of another shape.
  func value(_ text: String, of name: String) throws(URLFault) -> JSONValue {
    switch self {
    case .text, .texts:
      return .string(text)
    case .integer:
      guard let number = Int64(text), String(number) == text else {
        throw URLFault("\(name): not an integer")
      }
      return .integer(number)
    case .flag:
      guard text == "true" || text == "false" else {
        throw URLFault("\(name): neither true nor false")
      }
      return .bool(text == "true")
    case .json:
      do {
        return try WireCoder.decode(JSONValue.self, from: Array(text.utf8))
      } catch {
        throw URLFault("\(name): not JSON")
      }
    }
  }
}

/// Collects the members of a document from those of a query.
struct MemberCollection {
  private(set) var members: [String: JSONValue] = [:]

  /// Takes one more text of a member.
  mutating func add(_ text: String, _ name: String, _ shape: MemberShape) throws(URLFault) {
    let value = try shape.value(text, of: name)
    switch (shape, members[name]) {
    case (.texts, .array(let elements)): members[name] = .array(elements + [value])
    case (.texts, _): members[name] = .array([value])
    case (.text, nil), (.integer, nil), (.flag, nil), (.json, nil): members[name] = value
    case (.text, _), (.integer, _), (.flag, _), (.json, _):
      throw URLFault("a member given twice")
    }
  }
}
