/// A JSON value of any shape, for members whose content is not the protocol's business.
public enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number that is an integer of 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Members by name.
  case object([String: JSONValue])

  /// The member of an object, or nil for another shape or a missing member.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The text, or nil for another shape.
  public var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The integer, or nil for another shape.
  public var integer: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }
}

extension JSONValue: Codable {
  /// Decodes whatever is there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try container.decodeIfMatching(Bool.self) {
      self = .bool(value)
    } else if let value = try container.decodeIfMatching(Int64.self) {
      self = .integer(value)
    } else if let value = try container.decodeIfMatching(Double.self) {
      self = .number(value)
    } else if let value = try container.decodeIfMatching(String.self) {
      self = .string(value)
    } else if let value = try container.decodeIfMatching([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Encodes the value as it is.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension SingleValueDecodingContainer {
  /// The value as a type, or nil if it has another shape, or is a number that the type cannot hold.
  func decodeIfMatching<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    do {
      return try decode(type)
    } catch DecodingError.typeMismatch(_, let context)
      where context.codingPath.count == codingPath.count
    {
      return nil
    } catch  where type is any BinaryInteger.Type {
      // A fraction or a number of more than 64 bits: Foundation throws an error of its own for it.
      return nil
    }
  }
}
