import FoundationEssentials

/// A key that signs webhooks, shared by sender and receiver.
///
/// Its bytes appear nowhere: descriptions and dumps show only that there is one.
public struct WebhookSecret: Sendable {
  /// What begins a secret whose rest is the key in base64.
  public static let prefix = "whsec_"
  /// The keys that the specification allows, in bytes.
  public static let keySizes = 24...64
  /// The longest plain text that is taken as a key, in bytes.
  public static let longestText = 1024

  let key: [UInt8]

  /// Reads `whsec_` and a key in base64, or takes a plain text of at least 24 bytes as the key.
  ///
  /// White space around it, as the line feed at the end of a file, does not belong to it.
  ///
  /// - Parameter text: the secret; it is not repeated in the error.
  /// - Throws: ``WebhookSecretFault``.
  public init(_ text: String) throws(WebhookSecretFault) {
    let text = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
    let bytes = Array(String(text).utf8)
    guard bytes.starts(with: Self.prefix.utf8) else {
      guard bytes.count >= Self.keySizes.lowerBound else { throw .tooShort(bytes.count) }
      guard bytes.count <= Self.longestText else { throw .tooLong(bytes.count) }
      key = bytes
      return
    }
    let encoded = Data(bytes.dropFirst(Self.prefix.utf8.count))
    guard let decoded = Data(base64Encoded: encoded) else { throw .notBase64 }
    guard decoded.count >= Self.keySizes.lowerBound else { throw .tooShort(decoded.count) }
    guard decoded.count <= Self.keySizes.upperBound else { throw .tooLong(decoded.count) }
    key = Array(decoded)
  }

  /// Whether it is the same key as before, to tell whether one was changed; no check of what somebody
  /// else has sent, since its time tells how much of a key is alike.
  package func isSameKey(as other: WebhookSecret) -> Bool { key == other.key }
}

/// Why a text is no secret; it says nothing of the text but its length.
public enum WebhookSecretFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// After `whsec_` there is something else than base64.
  case notBase64
  /// The key has so many bytes, fewer than 24.
  case tooShort(Int)
  /// The key has so many bytes, more than 64, or the text more than is sensible.
  case tooLong(Int)

  /// One clause for a person.
  public var description: String {
    switch self {
    case .notBase64: "what follows whsec_ is not base64"
    case .tooShort(let count): "it has \(count) bytes, and a key has at least 24"
    case .tooLong(let count): "it has \(count) bytes, which is too long for a key"
    }
  }
}

extension WebhookSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Never the secret.
  public var description: String { "(webhook secret)" }
  /// Never the secret.
  public var debugDescription: String { description }
  /// Never the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
