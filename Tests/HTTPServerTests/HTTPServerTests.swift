import Glibc
import HTTPServer
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

@Suite("An HTTP server", .timeLimit(.minutes(1)))
struct HTTPServerTests {
  private static let echo: @Sendable (HTTPRequestHead) -> HTTPRoute = { head in
    .collect(limit: 1000) { request in
      await Task.yield()
      return .response(HTTPResponse(200, ["X-Method": head.method], body: .bytes(request.body)))
    }
  }

  @Test("hands over method, path, query, headers and body, and answers from another thread")
  func request() async throws {
    let seen = Mutex<HTTPRequest?>(nil)
    let (server, port) = try HTTPServer.onLoopback { _ in
      .collect(limit: 1000) { request in
        seen.withLock { $0 = request }
        return .response(HTTPResponse(201, ["X-Mine": "yes"], body: .bytes(Array("done".utf8))))
      }
    }
    let answer = try await Client.ask(
      port,
      "POST /a%2Fb/%00c?x=1%202&y=a+b&broken=%4 HTTP/1.1\r\nHost: h\r\nX-Odd: a, b\r\n"
        + "Connection: close\r\nContent-Length: 5\r\n\r\nhello"
    )
    #expect(answer.hasPrefix("HTTP/1.1 201 "))
    #expect(answer.contains("X-Mine: yes\r\n"))
    #expect(answer.hasSuffix("\r\n\r\ndone"))
    let request = try #require(seen.withLock { $0 })
    #expect(request.head.method == "POST")
    #expect(request.head.segments == [Array("a/b".utf8), [0] + Array("c".utf8)])
    #expect(request.head.query.fields.map(\.value) == ["1 2", "a b"])
    #expect(request.head.headers["x-odd"] == "a, b")
    #expect(request.body == Array("hello".utf8))
    await server.stop()
    #expect(server.live == 0)
  }

  @Test("refuses a body over the limit: by its declared length, and while it comes in")
  func bodyLimit() async throws {
    let (server, port) = try HTTPServer.onLoopback(route)
    let declared = try await Client.ask(
      port,
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n"
    )
    #expect(declared.hasPrefix("HTTP/1.1 413 "))
    let piece = "800\r\n" + String(repeating: "x", count: 2048) + "\r\n"
    let chunked = try await Client.ask(
      port,
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(piece)\(piece)0\r\n\r\n"
    )
    #expect(chunked.hasPrefix("HTTP/1.1 413 "))
    // One that goes on and on gets no answer at all.
    let client = try Client(port)
    try client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    #expect(throws: SystemError.self) {
      for _ in 0..<10_000 { try client.send(piece) }
    }
    let exact = try await Client.ask(
      port,
      "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
        + String(repeating: "y", count: 1000)
    )
    #expect(exact.hasPrefix("HTTP/1.1 200 "))
    await server.stop()
    #expect(server.live == 0)
  }

  @Test("refuses a head over the limit")
  func headLimit() async throws {
    let (server, port) = try HTTPServer.onLoopback(route)
    let long = String(repeating: "z", count: 100_000)
    let answer = try await Client.ask(port, "GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 431 "), "\(answer.prefix(60))")
    await server.stop()
    #expect(server.live == 0)
  }

  @Test("ends connections on which nothing moves, and none whose request is being answered")
  func timeout() async throws {
    let gate = Gate()
    let (server, port) = try HTTPServer.onLoopback(limits: .init(idle: .seconds(1))) { _ in
      .collect(limit: 1000) { _ in
        await gate.wait()
        return .response(HTTPResponse(204))
      }
    }
    let waiting = try Client(port)
    try waiting.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    let halfOpen = try await Client.ask(port, "POST / HTTP/1.1\r\nHost: h\r\n")
    #expect(halfOpen == "" || halfOpen.hasPrefix("HTTP/1.1 408 "))
    gate.open()
    #expect(try await waiting.rest().hasPrefix("HTTP/1.1 204 "))
    await server.stop()
  }

  @Test(
    "ends a head and a body that never come whole, however steadily they come",
    .serialized,
    arguments: [
      "GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n",
    ]
  )
  func dripping(beginning: String) async throws {
    let limits = HTTPServer.Limits(headTime: .milliseconds(500), bodyTime: .milliseconds(500))
    let (server, port) = try HTTPServer.onLoopback(limits: limits, Self.echo)
    let client = try Client(port)
    let start = ContinuousClock.now
    try client.send(beginning)
    // Each byte keeps the connection from being idle.
    #expect(try await client.drip(atMost: 400))
    #expect(start.duration(to: .now) >= .milliseconds(400))
    _ = try await poll { server.live == 0 ? true : nil }
    await server.stop()
  }

  @Test("a prompt request gets through while slow clients take all that they are given")
  func slowClients() async throws {
    let (server, port) = try HTTPServer.onLoopback(limits: .init(connections: 32), Self.echo)
    // Others that wait would count.
    let thread = BlockingThread("test-prompt")
    var slow: [Client] = []
    for number in 0..<100 {
      let client = try Client(port)
      // One that had to give way already is as good as any.
      try? client.send(
        number.isMultiple(of: 2)
          ? "GET / HT" : "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc"
      )
      slow.append(client)
    }
    for _ in 0..<5 {
      let start = ContinuousClock.now
      let answer = try await Client.ask(
        port,
        "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
        on: thread
      )
      #expect(answer.hasPrefix("HTTP/1.1 200 "))
      #expect(start.duration(to: .now) < .seconds(1))
    }
    withExtendedLifetime(slow) {}
    await server.stop()
  }

  @Test("forgets a client that went away, before and during the answer")
  func goneClients() async throws {
    let gate = Gate()
    let (server, port) = try HTTPServer.onLoopback(limits: .init(idle: .seconds(1))) { _ in
      .collect(limit: 1000) { _ in
        await gate.wait()
        return .response(HTTPResponse(200, body: .bytes([UInt8](repeating: 1, count: 1 << 22))))
      }
    }
    for request in ["GET / HT", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"] {
      let client = try Client(port)
      try client.send(request)
      try client.socket.close()
    }
    let clients = try (0..<20).map { _ in try Client(port) }
    for client in clients { try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
    _ = try await poll { server.live >= 20 ? true : nil }
    for client in clients { try client.socket.close() }
    gate.open()
    _ = try await poll { server.live == 0 ? true : nil }
    #expect(server.live == 0)
    await server.stop()
  }

  @Test("sends a part of a file, and only its length to HEAD")
  func filePart() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("0123456789", to: "file")
    let (server, port) = try HTTPServer.onLoopback { _ in
      .collect(limit: 0) { _ in
        guard let file = try? FileDescriptor.open(path, O_RDONLY) else { return .hangUp }
        return .response(HTTPResponse(206, body: .file(file, offset: 3, count: 4)))
      }
    }
    let answer = try await Client.ask(
      port,
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    )
    #expect(answer.hasSuffix("\r\n\r\n3456"))
    let head = try await Client.ask(port, "HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    #expect(head.contains("Content-Length: 4\r\n"))
    #expect(head.hasSuffix("\r\n\r\n"))
    await server.stop()
  }

  @Test("stops while requests are being answered: their work is cancelled, and they get its answer")
  func stopping() async throws {
    let (server, port) = try HTTPServer.onLoopback { _ in
      .collect(limit: 0) { _ in
        // Ends only by being cancelled.
        for await _ in AsyncStream<Void>.makeStream().stream {}
        return .response(HTTPResponse(Task.isCancelled ? 503 : 200))
      }
    }
    let client = try Client(port)
    try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    _ = try await poll { server.live == 1 ? true : nil }
    await server.stop()
    #expect(server.live == 0)
    #expect(throws: SystemError.self) { try Client(port) }
  }

  @Test("hangs up where it is told to")
  func hangUp() async throws {
    let (server, port) = try HTTPServer.onLoopback { _ in .answer(.hangUp) }
    #expect(try await Client.ask(port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n") == "")
    await server.stop()
  }

  @Test("answers a thousand requests at once over 50 connections, each with its own answer")
  func many() async throws {
    let (server, port) = try HTTPServer.onLoopback(route)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for connection in 0..<50 {
        group.addTask {
          for request in 0..<20 {
            let body = "\(connection)/\(request)"
            let answer = try await Client.ask(
              port,
              "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            #expect(answer.hasSuffix("\r\n\r\n\(body)"))
          }
        }
      }
      try await group.waitForAll()
    }
    await server.stop()
    #expect(server.live == 0)
  }

  private var route: @Sendable (HTTPRequestHead) -> HTTPRoute { Self.echo }
}

/// Holds tasks until it is opened.
private final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream()
  }

  func wait() async {
    for await _ in stream {}
  }

  func open() {
    continuation.finish()
  }
}
