/// The name of a rendition of an asset, as `proxy` or `poster`: 1 to 32 of `a-z 0-9 _ -`, beginning with
/// a letter, and not `original`.
public struct RenditionName: Hashable, Comparable, Sendable, Codable {
  /// The name's text.
  public let text: String

  /// Takes a name; nil if it has other characters or another length, or is `original`.
  public init?(_ text: String) {
    guard Self.isName(text) else { return nil }
    self.text = text
  }

  /// Orders by the text.
  public static func < (left: RenditionName, right: RenditionName) -> Bool {
    left.text < right.text
  }

  /// Decodes and checks the text.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard Self.isName(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not the name of a rendition")
      )
    }
    self.text = text
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, (1...32).contains(text.utf8.count), text != "original",
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
    else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default:
        false
      }
    }
  }
}

extension RenditionName: CustomStringConvertible {
  /// The name's text.
  public var description: String { text }
}
