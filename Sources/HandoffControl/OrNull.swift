/// A member that is always there: what has no value is written as `null`, so that scripts need not ask
/// whether a member exists.
@propertyWrapper
package struct OrNull<Value: Codable & Sendable>: Codable, Sendable {
  package var wrappedValue: Value?

  package init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension KeyedDecodingContainer {
  /// A missing member reads like `null`: an older broker may answer a newer command.
  package func decode<Value>(
    _ type: OrNull<Value>.Type,
    forKey key: Key
  ) throws -> OrNull<Value> {
    try decodeIfPresent(type, forKey: key) ?? OrNull(wrappedValue: nil)
  }
}
