package import HandoffProtocol

/// Reads a result that came back by itself, as a URL or as a document, from wherever.
package enum ReturnedResult {
  /// The longest text that is read, in bytes.
  package static let maximumSize = max(HandoffResult.maximumSize, HandoffURL.maximumSize)

  /// Reads a result; white space around it does not count.
  ///
  /// - Throws: ``ProtocolError`` with `malformed_result`; it never quotes the text, and in the result the
  ///   token stands nowhere but in its own place.
  package static func read(_ bytes: [UInt8]) throws -> HandoffResult {
    let text = trimmed(bytes)
    let value: JSONValue
    if text.first == UInt8(ascii: "{") {
      guard text.count <= HandoffResult.maximumSize else {
        throw ProtocolError(.malformedResult, "a result of \(text.count) bytes")
      }
      value = try documentValue(text)
    } else {
      value = try HandoffURL.resultValue(text)
    }
    return try WireCoder.document(
      HandoffResult.self,
      from: TokenRedaction(capacity: 1).redactedResult(value)
    )
  }

  private static func documentValue(_ text: ArraySlice<UInt8>) throws -> JSONValue {
    do {
      return try WireCoder.decode(JSONValue.self, from: text)
    } catch let error as ProtocolError {
      throw ProtocolError(.malformedResult, error.message)
    }
  }

  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { [9, 10, 13, 32].contains(byte) }
    let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
    let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
    return bytes[start..<end]
  }
}
