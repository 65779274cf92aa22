import Glibc
import HTTPServer
import LinuxSystem

/// A client that sends exactly what it is told to.
struct Client: Sendable {
  static let thread = BlockingThread("test-client")
  private static let dripping = BlockingThread("test-drip")

  let socket: FileDescriptor

  init(_ port: UInt16) throws {
    socket = try TCPSocket.connect(host: "127.0.0.1", port: port)
  }

  func send(_ text: String) throws {
    try UnixSocket.sendAll(Array(text.utf8), over: socket)
  }

  /// Everything until the server ends the connection.
  func rest(on thread: BlockingThread = thread) async throws -> String {
    let socket = socket
    return try await Task {
      try await thread.run {
        String(decoding: try socket.readAll(limit: 64 << 20), as: UTF8.self)
      }
    }.value
  }

  /// The whole answer to one request, after which the server ends the connection.
  static func ask(
    _ port: UInt16,
    _ request: String,
    on thread: BlockingThread = thread
  ) async throws -> String {
    let client = try Client(port)
    try client.send(request)
    return try await client.rest(on: thread)
  }

  /// Sends a byte every 20 ms until the server ends the connection, at most so many.
  ///
  /// - Returns: whether it has ended it; it sends nothing before a request is whole.
  func drip(atMost count: Int) async throws -> Bool {
    let socket = socket
    return try await Task {
      try await Self.dripping.run {
        for _ in 0..<count {
          var answer = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
          if poll(&answer, 1, 20) > 0 { return true }
          try UnixSocket.sendAll([UInt8(ascii: "x")], over: socket)
        }
        return false
      }
    }.value
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
