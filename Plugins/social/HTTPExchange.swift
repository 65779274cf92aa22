import Paths

/// A request to a server.
struct HTTPRequest: Sendable {
  /// What is sent with it.
  enum Body: Sendable {
    case none
    case json([UInt8])
    /// One file as the part `file` of a form; its bytes are read while they are sent.
    case file(BytePath, name: String, contentType: String)
  }

  var method = "GET"
  var url: String
  var headers: [String] = []
  var body = Body.none
  /// Seconds for the whole exchange; 0 for as long as bytes flow.
  var limit = 60
}

/// What the server answered.
struct HTTPReply: Sendable {
  var status: Int
  /// Names in lower case.
  var headers: [String: String] = [:]
  var body: [UInt8] = []
}

/// Why there is no answer.
struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server may have seen the request, and acted on it.
  let wasSent: Bool
  /// libcurl's own text.
  let reason: String

  var description: String { reason }
}
