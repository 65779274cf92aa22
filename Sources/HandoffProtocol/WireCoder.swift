import FoundationEssentials

/// Turns documents into JSON bytes and back, the same way on both sides.
public enum WireCoder {
  /// One line of JSON without a line feed; members in order of their names, slashes as they are.
  public static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }

  /// Reads a document of at most a number of bytes.
  ///
  /// Nesting deeper than 64, a member given twice and a text with U+0000 are refused too.
  ///
  /// - Throws: ``ProtocolError`` for everything that is not such a document, with `malformed_result` for
  ///   what a receiver answers, else `malformed_request`; the message names the place, never the content.
  public static func decode<Value: Decodable>(
    _ type: Value.Type,
    from bytes: some Collection<UInt8>,
    limit: Int = RPCMessage.maximumSize
  ) throws -> Value {
    let code = type is any AnswerDocument.Type ? ErrorCode.malformedResult : .malformedRequest
    guard bytes.count <= limit else {
      throw ProtocolError(code, "\(bytes.count) bytes, more than \(limit)")
    }
    if let fault = JSONGuard.fault(in: Array(bytes)) { throw ProtocolError(code, fault) }
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let error as ProtocolError {
      throw error
    } catch let error as DecodingError {
      throw ProtocolError(code, error.place)
    } catch {
      throw ProtocolError(code, "not JSON")
    }
  }

  /// A document as a value, for the parameters and results of messages.
  public static func value(_ document: some Encodable) throws -> JSONValue {
    try decode(JSONValue.self, from: encode(document), limit: .max)
  }

  /// A value as a document.
  public static func document<Value: Decodable>(
    _ type: Value.Type,
    from value: JSONValue?
  ) throws -> Value {
    try decode(type, from: encode(value ?? .null), limit: .max)
  }
}

extension DecodingError {
  /// Where and what kind, without the value.
  fileprivate var place: String {
    func path(_ context: Context) -> String {
      context.codingPath.map(\.stringValue).joined(separator: ".")
    }
    switch self {
    case .typeMismatch(let type, let context): return "\(path(context)): not a \(type)"
    case .valueNotFound(_, let context): return "\(path(context)): null"
    case .keyNotFound(let key, let context):
      return (context.codingPath + [key]).map(\.stringValue).joined(separator: ".") + ": missing"
    case .dataCorrupted(let context): return "\(path(context)): \(context.debugDescription)"
    @unknown default: return "not the expected document"
    }
  }
}

/// What a receiver answers: a fault in it is a `malformed_result`.
protocol AnswerDocument {}

extension Discovery: AnswerDocument {}
extension HandoffKnowledge: AnswerDocument {}
extension HandoffResult: AnswerDocument {}
extension PreflightAnswer: AnswerDocument {}
extension ReconcileAnswer: AnswerDocument {}
extension SubmitAnswer: AnswerDocument {}
