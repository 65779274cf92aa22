package import LinuxSystem

/// What a request is answered with.
package struct HTTPResponse: Sendable {
  package enum Body: Sendable {
    case bytes([UInt8])
    /// A part of a file, sent by the kernel without passing through memory.
    ///
    /// The server keeps a descriptor of its own: the file can be closed at once.
    case file(FileDescriptor, offset: Int64, count: Int64)
  }

  package var status: Int
  /// `Content-Length` and `Date` are the server's.
  package var headers: HTTPFields
  /// To `HEAD` only its length is sent.
  package var body: Body

  package init(_ status: Int, _ headers: HTTPFields = [:], body: Body = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// How a request ends.
package enum HTTPAnswer: Sendable {
  case response(HTTPResponse)
  /// The connection ends without a response.
  case hangUp
}
