/// The SHA-256 of a resource's bytes (FIPS 180-4): the name of the resource in the library.
public struct ContentDigest: Hashable, Sendable {
  /// Always 32 bytes.
  public let bytes: [UInt8]

  /// Takes the 32 bytes of a digest; nil for any other count.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits; nil for anything else.
  public init?(hex: String) {
    guard let bytes = [UInt8](hexDigits: hex) else { return nil }
    self.init(bytes)
  }

  /// 64 lower-case hexadecimal digits.
  public var hex: String { bytes.hexDigits }
}

extension ContentDigest: CustomStringConvertible {
  /// The hexadecimal form.
  public var description: String { hex }
}

extension ContentDigest: Codable {
  /// Decodes the hexadecimal form.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let digest = ContentDigest(hex: text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a SHA-256 in hexadecimal")
      )
    }
    self = digest
  }

  /// Encodes the hexadecimal form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }
}
