/// The unguessable one-time value that ties a result to its request.
///
/// Its text appears in requests and results and nowhere else: descriptions and dumps show only that
/// there is one.
public struct StateToken: Sendable {
  /// The token's text, for documents only: never for a log, an argument or an error.
  public let revealed: String

  /// The longest token that is read, in bytes.
  public static let maximumLength = 256

  /// Takes the text of a token; nil if it is empty, too long, or has other characters than those of
  /// base64url (RFC 4648) and the dot.
  public init?(_ text: String) {
    let allowed = text.utf8.allSatisfy { $0.isNameByte || $0 == UInt8(ascii: ".") }
    guard allowed, !text.isEmpty, text.utf8.count <= Self.maximumLength else { return nil }
    revealed = text
  }

  /// Whether two tokens are the same, in time that does not depend on where they differ.
  public func matches(_ other: StateToken) -> Bool {
    let left = Array(revealed.utf8)
    let right = Array(other.revealed.utf8)
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (one, two) in zip(left, right) { difference |= one ^ two }
    return difference == 0
  }
}

extension StateToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Never the token.
  public var description: String { "(state token)" }
  /// Never the token.
  public var debugDescription: String { description }
  /// Never the token.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StateToken: Codable {
  /// Decodes the text; the error does not repeat it.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let token = StateToken(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a state token")
      )
    }
    self = token
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(revealed)
  }
}
