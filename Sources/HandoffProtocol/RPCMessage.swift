/// One message of JSON-RPC 2.0 (jsonrpc.org/specification), as it travels on a line of its own.
public struct RPCMessage: Sendable, Codable {
  /// The id of a call: text or number, returned as it came.
  public enum ID: Hashable, Sendable {
    /// As text.
    case text(String)
    /// As an integer.
    case number(Int64)
  }

  /// An error answer.
  public struct Failure: Error, Hashable, Sendable, Codable {
    /// JSON-RPC's number: below -32000 for the transport, -32000 for the protocol's refusals.
    public var code: Int
    /// One sentence for a person.
    public var message: String
    /// A ``ResultError`` where the method has one.
    public var data: ResultError?

    /// Makes an error answer.
    public init(code: Int, message: String, data: ResultError? = nil) {
      self.code = code
      self.message = message
      self.data = data
    }

    /// The method is not known: the other side is newer or older.
    public static func unsupported(_ method: String) -> Failure {
      Failure(code: -32_601, message: "unsupported: \(method.quotedOrLength)")
    }

    /// The parameters do not have their shape.
    public static func invalidParameters(_ text: String) -> Failure {
      Failure(code: -32_602, message: text)
    }

    /// The protocol's own refusals; the reason is in `data`.
    public static func refused(_ error: ResultError) -> Failure {
      Failure(code: -32_000, message: error.message, data: error)
    }
  }

  /// Always `2.0`.
  public var jsonrpc: String
  /// Ties an answer to its call.
  public var id: ID?
  /// The method of a call; nil in an answer.
  public var method: String?
  /// The parameters of a call.
  public var params: JSONValue?
  /// The answer to a call that went well.
  public var result: JSONValue?
  /// The answer to a call that did not.
  public var error: Failure?

  /// The longest line that is read, in bytes, without its line feed.
  public static let maximumSize = 1_048_576

  /// A call.
  public static func call(_ id: ID, _ method: String, _ params: JSONValue) -> RPCMessage {
    RPCMessage(jsonrpc: "2.0", id: id, method: method, params: params)
  }

  /// A message without an answer.
  public static func notification(_ method: String, _ params: JSONValue) -> RPCMessage {
    RPCMessage(jsonrpc: "2.0", method: method, params: params)
  }

  /// An answer.
  public static func answer(_ id: ID, _ result: JSONValue) -> RPCMessage {
    RPCMessage(jsonrpc: "2.0", id: id, result: result)
  }

  /// An error answer.
  public static func failure(_ id: ID?, _ error: Failure) -> RPCMessage {
    RPCMessage(jsonrpc: "2.0", id: id, error: error)
  }
}

extension RPCMessage.ID: Codable {
  /// Decodes text or an integer.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try container.decodeIfMatching(Int64.self) {
      self = .number(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  /// Encodes text or the integer.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    }
  }
}
