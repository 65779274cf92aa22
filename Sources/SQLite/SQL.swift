/// The text of one statement, kept as a constant.
///
/// A connection prepares it once and finds it again by the constant's identity, so make each a
/// `static let`. Values go in through placeholders only.
package final class SQL: Sendable {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }
}

/// A value on its way into or out of the database; see sqlite.org/datatype3.html.
package enum Value: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// An integer, or null.
  package static func optional(_ value: Int64?) -> Value { value.map(Value.integer) ?? .null }

  /// A text, or null.
  package static func optional(_ value: String?) -> Value { value.map(Value.text) ?? .null }

  /// 1 or 0.
  package static func flag(_ value: Bool) -> Value { .integer(value ? 1 : 0) }
}
