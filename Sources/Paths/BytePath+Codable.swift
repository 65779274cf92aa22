extension BytePath: Codable {
  /// Decodes a text, or the list of bytes of a path that is not UTF-8.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      self.init(try container.decode(String.self))
    } catch DecodingError.typeMismatch {
      self.init(try container.decode([UInt8].self))
    }
  }

  /// Encodes a text, or a list of bytes where the path is not UTF-8, so that no byte is lost.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let exactText {
      try container.encode(exactText)
    } else {
      try container.encode(bytes)
    }
  }
}
