import Glibc
import HTTPServer
import LinuxSystem

/// A client that sends exactly what it is told to.
struct Client: Sendable {
  private static let thread = BlockingThread("test-client")

  let socket: FileDescriptor

  init(_ port: UInt16) throws {
    socket = try TCPSocket.connect(host: "127.0.0.1", port: port)
  }

  func send(_ text: String) throws {
    try UnixSocket.sendAll(Array(text.utf8), over: socket)
  }

  /// Everything until the server ends the connection.
  func rest() async throws -> String {
    let socket = socket
    return try await Task {
      try await Self.thread.run {
        String(decoding: try socket.readAll(limit: 64 << 20), as: UTF8.self)
      }
    }.value
  }

  /// The whole answer to one request, after which the server ends the connection.
  static func ask(_ port: UInt16, _ request: String) async throws -> String {
    let client = try Client(port)
    try client.send(request)
    return try await client.rest()
  }
}

extension UnixSocket {
  fileprivate static func sendAll(_ bytes: [UInt8], over socket: FileDescriptor) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(try send(rest, over: socket))
    }
  }
}

extension HTTPServer {
  /// A server on a free port.
  static func onLoopback(
    limits: Limits = Limits(),
    _ route: @escaping @Sendable (HTTPRequestHead) -> HTTPRoute
  ) throws -> (HTTPServer, UInt16) {
    let (listener, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
    return (try HTTPServer(listener, limits: limits, route: route), port)
  }
}
