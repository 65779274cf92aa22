import HandoffProtocol

/// A line of the plugin, sorted by what it is.
enum Incoming: Sendable {
  /// The answer to a call of the kit.
  case answer(id: Int64, Answer)
  /// A message of the plugin; without an id it wants no answer.
  case message(method: String, parameters: JSONValue, id: RPCMessage.ID?)
  /// No message of the protocol; the text says why.
  case malformed(String)

  /// What a call came to.
  enum Answer: Sendable {
    case result(JSONValue)
    case error(RPCMessage.Failure)
  }

  /// Sorts a line.
  init(_ line: [UInt8]) {
    do {
      let message = try WireCoder.decode(RPCMessage.self, from: line)
      guard message.jsonrpc == "2.0" else {
        self = .malformed("`jsonrpc` is not \"2.0\"")
        return
      }
      self = Self.sorted(message)
    } catch let error as ProtocolError {
      self = .malformed(error.message)
    } catch {
      self = .malformed("\(error)")
    }
  }

  private static func sorted(_ message: RPCMessage) -> Incoming {
    if let method = message.method {
      return .message(method: method, parameters: message.params ?? .null, id: message.id)
    }
    switch (message.id, message.error) {
    case (.number(let id), let error?): return .answer(id: id, .error(error))
    case (.number(let id), nil): return .answer(id: id, .result(message.result ?? .null))
    // The answer of JSON-RPC to a line whose id could not be read.
    case (nil, _?): return .answer(id: 0, .error(RPCMessage.Failure(code: -32_700, message: "")))
    default: return .malformed("an answer whose `id` is not that of a call")
    }
  }
}
