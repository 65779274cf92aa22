import Glibc
import LinuxSystem
import Synchronization

/// An HTTP server on the loopback interface that answers as a test says, also as none should.
///
/// Each connection carries one request, on a thread of its own. It ends with ``stop()``.
package final class LoopbackServer: Sendable {
  /// A request as it came.
  package struct Request: Sendable {
    package var method: String
    /// Path and query.
    package var target: String
    /// Names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
  }

  /// What is done with a request.
  package enum Answer: Sendable {
    case reply(_ status: Int, headers: [(String, String)] = [], body: [UInt8] = [])
    /// These bytes as they are, and the end of the connection.
    case raw([UInt8])
    /// Nothing, until the client or ``LoopbackServer/stop()`` ends the connection.
    case silence
  }

  private struct State {
    var requests: [Request] = []
    var connections: [CInt: FileDescriptor] = [:]
    var isStopped = false
  }

  /// Where it listens.
  package let port: Int
  private let listener: FileDescriptor
  private let answer: @Sendable (Request) -> Answer
  private let state = Mutex(State())

  /// Listens on a free port.
  ///
  /// - Parameters:
  ///   - port: another than a free one, to come back where an earlier server was.
  ///   - answer: called on a thread of its own for each request.
  /// - Throws: where the system gives no socket or the port is taken.
  package init(
    port: Int = 0,
    _ answer: @escaping @Sendable (Request) -> Answer
  ) throws {
    let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw SystemError.last("socket") }
    listener = FileDescriptor(owning: number)
    var reuse: CInt = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(number, address, size) == 0, listen(number, 64) == 0 else { return CInt(-1) }
        return getsockname(number, address, &size)
      }
    }
    guard status == 0 else { throw SystemError.last("bind") }
    self.port = Int(UInt16(bigEndian: address.sin_port))
    self.answer = answer
    try Self.startThread { [self] in acceptAll() }
  }

  /// `http://127.0.0.1:PORT`.
  package var url: String { "http://127.0.0.1:\(port)" }

  /// The requests so far, in the order in which they were whole.
  package var requests: [Request] { state.withLock { $0.requests } }

  /// Ends every connection, and takes no more.
  package func stop() {
    state.withLock { state in
      state.isStopped = true
      // Under the lock, so that none of the numbers can be another's by now.
      for number in state.connections.keys { shutdown(number, CInt(SHUT_RDWR)) }
    }
    shutdown(listener.rawValue, CInt(SHUT_RDWR))
  }

  // MARK: Threads

  private func acceptAll() {
    while true {
      let number = accept(listener.rawValue, nil, nil)
      guard number >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      _ = fcntl(number, F_SETFD, FD_CLOEXEC)
      let connection = FileDescriptor(owning: number)
      let isTaken = state.withLock { state in
        if !state.isStopped { state.connections[number] = connection }
        return !state.isStopped
      }
      guard isTaken else { return }
      do {
        try Self.startThread { [self] in
          serve(connection)
          state.withLock { _ = $0.connections.removeValue(forKey: number) }
        }
      } catch {
        return print("a connection is not served: \(error)")
      }
    }
  }

  private func serve(_ connection: FileDescriptor) {
    guard let request = Self.read(connection.rawValue) else { return }
    state.withLock { $0.requests.append(request) }
    switch answer(request) {
    case .reply(let status, let headers, let body):
      let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
      let head =
        "HTTP/1.1 \(status) Answer\r\n\(lines)Content-Length: \(body.count)\r\n"
        + "Connection: close\r\n\r\n"
      Self.write(Array(head.utf8) + body, connection.rawValue)
    case .raw(let bytes):
      Self.write(bytes, connection.rawValue)
    case .silence:
      var byte: UInt8 = 0
      while recv(connection.rawValue, &byte, 1, 0) > 0 {}
    }
    shutdown(connection.rawValue, CInt(SHUT_RDWR))
  }

  private static func read(_ socket: CInt) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let blank = Array("\r\n\r\n".utf8)
    var end: Int?
    while end == nil {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer.prefix(count)
      // TLS, which is not spoken here.
      if bytes.first == 0x16 { return nil }
      end = bytes.indices.first { bytes[$0...].starts(with: blank) }
    }
    guard let end else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ")
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    if headers["expect"] != nil { write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), socket) }
    var body = Array(bytes[(end + blank.count)...])
    let size = headers["content-length"].flatMap { Int($0) } ?? 0
    while body.count < size {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      body += buffer.prefix(count)
    }
    return Request(
      method: String(words[0]),
      target: String(words[1]),
      headers: headers,
      body: body
    )
  }

  private static func write(_ bytes: [UInt8], _ socket: CInt) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      // The client has gone.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private static func startThread(_ body: @escaping @Sendable () -> Void) throws {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    let code = pthread_create(&thread, nil, runThread, context)
    guard code == 0 else {
      Unmanaged<ThreadBody>.fromOpaque(context).release()
      throw TestSupportError("pthread_create: error \(code)")
    }
    pthread_detach(thread)
  }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
  return nil
}
