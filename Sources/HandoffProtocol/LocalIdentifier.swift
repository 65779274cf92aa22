/// The name of an asset, `UUID/L0/001` in the style of PhotoKit's `PHObject.localIdentifier`.
///
/// The UUID is a version 8 of RFC 9562 made from the first 128 bits of the content digest, so the same
/// bytes have the same identifier on every host. Receivers treat it as opaque.
public struct LocalIdentifier: Hashable, Comparable, Sendable {
  /// The identifier as it stands in documents: upper-case UUID, then `/L0/001`.
  public let text: String

  private static let suffix = "/L0/001"

  /// The identifier of the asset with a content.
  public init(_ digest: ContentDigest) {
    var bytes = Array(digest.bytes.prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80  // version 8
    bytes[8] = bytes[8] & 0x3F | 0x80  // variant 10
    let hex = bytes.hexDigits.uppercased()
    var groups: [Substring] = []
    var rest = hex[...]
    for length in [8, 4, 4, 4, 12] {
      groups.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    text = groups.joined(separator: "-") + Self.suffix
  }

  /// Reads an identifier, or the UUID alone, in either case; nil for anything else.
  public init?(_ text: String) {
    if Self.isCanonical(text) {
      self.text = text
      return
    }
    let upper = text.uppercased()
    let uuid = upper.hasSuffix(Self.suffix) ? String(upper.dropLast(Self.suffix.count)) : upper
    let groups = uuid.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
      [UInt8](hexDigits: groups.joined()) != nil
    else { return nil }
    self.text = uuid + Self.suffix
  }

  /// The text is an identifier exactly as identifiers are written.
  ///
  /// That is, 8-4-4-4-12 upper-case hexadecimal digits, then the
  /// suffix. Every identifier that is read back is, so it is found out without making other texts.
  private static func isCanonical(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard bytes.count == 36 + suffix.utf8.count, bytes[36...].elementsEqual(suffix.utf8) else {
        return false
      }
      return bytes[..<36].enumerated().allSatisfy { index, byte in
        switch index {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default:
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
        }
      }
    }
  }

  /// The UUID part, in upper case, for places that cannot hold a slash.
  public var uuid: String { String(text.dropLast(Self.suffix.count)) }

  /// Orders by the text.
  public static func < (left: LocalIdentifier, right: LocalIdentifier) -> Bool {
    left.text < right.text
  }
}

extension LocalIdentifier: CustomStringConvertible {
  /// The identifier's text.
  public var description: String { text }
}

extension LocalIdentifier: Codable {
  /// Decodes the text; refuses what is not an identifier.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let identifier = LocalIdentifier(text), identifier.text == text else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a local identifier")
      )
    }
    self = identifier
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
