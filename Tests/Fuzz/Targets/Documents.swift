import HandoffProtocol

/// What holds for every document of the protocol.
enum Documents {
  /// Decodes; what was decoded is written again the same, and a refusal says why without quoting.
  static func check<Document: Codable>(
    _ type: Document.Type,
    _ bytes: [UInt8],
    limit: Int = RPCMessage.maximumSize,
    _ more: (Document) throws -> Void = { _ in }
  ) throws {
    guard let document = try decode(type, bytes, limit: limit) else { return }
    let written = try WireCoder.encode(document)
    let again = try WireCoder.decode(type, from: written, limit: .max)
    try hold(try WireCoder.encode(again) == written, "\(type): written differently again")
    try more(document)
  }

  /// The document, or nil where it was refused as documents are.
  static func decode<Document: Decodable>(
    _ type: Document.Type,
    _ bytes: [UInt8],
    limit: Int = RPCMessage.maximumSize
  ) throws -> Document? {
    do {
      return try WireCoder.decode(type, from: bytes, limit: limit)
    } catch let error as ProtocolError {
      try Refusals.check(error.message, of: bytes)
      return nil
    }
  }
}
