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
    switch self {
    case .typeMismatch(let type, let context): "\(path(context.codingPath)): not a \(type)"
    case .valueNotFound(_, let context): "\(path(context.codingPath)): null"
    case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])): missing"
    case .dataCorrupted(let context): "\(path(context.codingPath)): \(corruption(context))"
    @unknown default: "not the expected document"
    }
  }

  /// The last few names, so that it stays a sentence; a name that could be a secret by its length only.
  private func path(_ keys: [any CodingKey]) -> String {
    if keys.isEmpty { return "the document" }
    let names = keys.suffix(6).map { key in
      key.intValue.map { "[\($0)]" } ?? key.stringValue.quotedOrLength
    }
    return names.joined(separator: ".")
  }

  /// The sentences of this project's own decoders say what a value is not; those of the standard
  /// library and of Foundation quote it.
  private func corruption(_ context: Context) -> String {
    let sentence = context.debugDescription
    if sentence.hasPrefix("not a") { return sentence }
    return context.codingPath.isEmpty ? "not JSON" : "not a value that is known"
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
