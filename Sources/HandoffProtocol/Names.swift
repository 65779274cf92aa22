/// The configured name of a destination: 1 to 64 of `a-z A-Z 0-9 _ -`, not beginning with `-`.
public struct DestinationName: Hashable, Comparable, Sendable, Codable {
  /// The name's text.
  public let text: String

  /// Takes a name; nil if it has other characters or another length.
  public init?(_ text: String) {
    guard isConfiguredName(text) else { return nil }
    self.text = text
  }

  /// Orders by the text.
  public static func < (left: DestinationName, right: DestinationName) -> Bool {
    left.text < right.text
  }

  /// Decodes and checks the text.
  public init(from decoder: any Decoder) throws {
    text = try decodeConfiguredName(from: decoder)
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// Names, in the broker's configuration, where a sender wants to hear results; formed like a
/// ``DestinationName``.
public struct CallbackID: Hashable, Sendable, Codable {
  /// The id's text.
  public let text: String

  /// Takes an id; nil if it has other characters or another length.
  public init?(_ text: String) {
    guard isConfiguredName(text) else { return nil }
    self.text = text
  }

  /// Decodes and checks the text.
  public init(from decoder: any Decoder) throws {
    text = try decodeConfiguredName(from: decoder)
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension DestinationName: CustomStringConvertible {
  /// The name's text.
  public var description: String { text }
}

extension CallbackID: CustomStringConvertible {
  /// The id's text.
  public var description: String { text }
}

private func isConfiguredName(_ text: String) -> Bool {
  text.utf8.allSatisfy(\.isNameByte) && (1...64).contains(text.utf8.count)
    && text.utf8.first != UInt8(ascii: "-")
}

private func decodeConfiguredName(from decoder: any Decoder) throws -> String {
  let text = try decoder.singleValueContainer().decode(String.self)
  guard isConfiguredName(text) else {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "not a configured name")
    )
  }
  return text
}
