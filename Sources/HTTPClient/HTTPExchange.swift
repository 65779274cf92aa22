/// A request to a server.
package struct HTTPRequest: Sendable {
  /// What is sent with it.
  package enum Body: Sendable {
    case none
    /// Exactly these bytes.
    case bytes([UInt8], contentType: String)
    /// A part of a file, as it is; its bytes are read while they are sent.
    case upload(HTTPFileSlice, contentType: String)
    /// A form of several parts (RFC 7578).
    case form([HTTPFormPart])
  }

  package var method: String
  package var url: String
  /// Besides those that the body needs; in this order.
  package var headers: [(name: String, value: String)]
  package var body: Body
  package var limits = HTTPLimits()
  /// Only a connection is made, with its TLS, and nothing is sent; the status of the answer is 0 then.
  package var onlyConnects = false

  package init(
    _ method: String,
    _ url: String,
    headers: [(name: String, value: String)] = [],
    body: Body = .none
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// How long an exchange may take, and how much of an answer is read.
package struct HTTPLimits: Hashable, Sendable {
  /// From the first look for the host's address to the end of the TLS handshake.
  package var connecting: Duration = .seconds(20)
  /// The whole exchange; nil for as long as bytes flow.
  package var total: Duration? = .seconds(60)
  /// With fewer than 16 bytes a second for so long it ends.
  package var stall: Duration = .seconds(60)
  /// Of the answer's body, in bytes; more is not read.
  package var body = 1 << 20

  package init() {}
}

/// What the server answered.
package struct HTTPReply: Sendable {
  package var status: Int
  /// Names in lower case; what comes several times is joined by a comma.
  package var headers: [String: String]
  /// Each `Set-Cookie` as it came.
  package var cookies: [String]
  package var body: [UInt8]
  /// The body was longer than the limit, and this is its beginning.
  package var isCut: Bool

  package init(
    status: Int,
    headers: [String: String] = [:],
    cookies: [String] = [],
    body: [UInt8] = [],
    isCut: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.cookies = cookies
    self.body = body
    self.isCut = isCut
  }
}
