import HTTPClient
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("HTTP client", .timeLimit(.minutes(1)))
struct HTTPClientTests {
  private let client = HTTPClient(agent: "handoff-test/1.0")

  /// Runs a test with a server that answers every request in one way.
  private func withServer(
    _ answer: LoopbackServer.Answer,
    _ test: (LoopbackServer) async throws -> Void
  ) async throws {
    let server = try LoopbackServer { _ in answer }
    defer { server.stop() }
    try await test(server)
  }

  private func failure(_ request: HTTPRequest) async -> HTTPFailure? {
    await #expect(throws: HTTPFailure.self) { try await client.exchange(request) }
  }

  @Test("A request arrives as it was made, and its answer comes back")
  func exchange() async throws {
    let answer = LoopbackServer.Answer.reply(
      202,
      headers: [("X-One", "a: b"), ("Retry-After", "7"), ("X-List", "1"), ("x-list", "2")],
      body: Array("done".utf8)
    )
    try await withServer(answer) { server in
      let body = Array("hello\u{0}world".utf8)
      let reply = try await client.exchange(
        HTTPRequest(
          "POST",
          "\(server.url)/hook?a=1",
          headers: [("X-Mine", "value"), ("X-Empty", "")],
          body: .bytes(body, contentType: "application/json")
        )
      )
      #expect(reply.status == 202)
      #expect(reply.body == Array("done".utf8))
      #expect(!reply.isCut)
      #expect(reply.headers["x-one"] == "a: b")
      #expect(reply.headers["retry-after"] == "7")
      #expect(reply.headers["x-list"] == "1, 2")
      let request = try #require(server.requests.first)
      #expect(request.method == "POST")
      #expect(request.target == "/hook?a=1")
      #expect(request.body == body)
      #expect(request.headers["content-type"] == "application/json")
      #expect(request.headers["x-mine"] == "value")
      #expect(request.headers["x-empty"] == "")
      #expect(request.headers["user-agent"] == "handoff-test/1.0")
    }
  }

  @Test("An empty body is a body", arguments: ["POST", "PUT"])
  func emptyBody(method: String) async throws {
    try await withServer(.reply(204)) { server in
      let request = HTTPRequest(method, server.url, body: .bytes([], contentType: "text/plain"))
      let reply = try await client.exchange(request)
      #expect(reply.status == 204)
      #expect(server.requests.first?.method == method)
      #expect(server.requests.first?.headers["content-length"] == "0")
    }
  }

  @Test("A file goes as a part of a form, and its progress is told")
  func file() async throws {
    try await withTemporaryDirectory { folder in
      let file = folder.appending("clip.mp4")
      let content = [UInt8](repeating: 0x41, count: 3_000_000)
      try DurableFile.write(content, to: file, permissions: 0o600)
      let parts = Captured<Double>()
      try await withServer(.reply(200)) { server in
        let slice = HTTPFileSlice(file, count: Int64(content.count))
        let part = HTTPFormPart.file("file", slice, named: "a.mp4", contentType: "video/mp4")
        let request = HTTPRequest("POST", server.url, body: .form([part]))
        let reply = try await client.exchange(request) { parts.append($0) }
        #expect(reply.status == 200)
        let sent = try #require(server.requests.first)
        #expect(sent.body.count > content.count)
        #expect(String(decoding: sent.body.prefix(300), as: UTF8.self).contains("a.mp4"))
      }
      #expect(parts.all.contains { $0 > 0 })
    }
  }

  @Test("A form has its parts in order, texts as they are and a file's slice")
  func form() async throws {
    try await withTemporaryDirectory { folder in
      let file = folder.appending("clip.mp4")
      try DurableFile.write(Array("0123456789".utf8), to: file, permissions: 0o600)
      try await withServer(.reply(200)) { server in
        let parts = [
          HTTPFormPart.text("title", "a\u{0}b ü\r\n--x"),
          .file("chunk", HTTPFileSlice(file, offset: 3, count: 4), named: "c", contentType: "a/b"),
        ]
        _ = try await client.exchange(HTTPRequest("POST", server.url, body: .form(parts)))
        let sent = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
        let lines = sent.split(separator: "\r\n\r\n")
        #expect(lines.count == 3)
        #expect(lines.first?.contains(#"name="title""#) == true)
        #expect(sent.contains("\r\n\r\na\u{0}b ü\r\n--x\r\n"))
        #expect(sent.contains("\r\n\r\n3456\r\n"))
      }
    }
  }

  @Test("A slice of a file is the whole body, whatever the method", arguments: ["PUT", "POST"])
  func upload(method: String) async throws {
    try await withTemporaryDirectory { folder in
      let file = folder.appending("clip.mp4")
      let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      try DurableFile.write(content, to: file, permissions: 0o600)
      try await withServer(.reply(201)) { server in
        let slice = HTTPFileSlice(file, offset: 1000, count: 2_000_000)
        var request = HTTPRequest(method, server.url)
        request.body = .upload(slice, contentType: "video/mp4")
        let reply = try await client.exchange(request)
        #expect(reply.status == 201)
        let sent = try #require(server.requests.first)
        #expect(sent.method == method)
        #expect(sent.headers["content-length"] == "2000000")
        #expect(sent.headers["content-type"] == "video/mp4")
        #expect(sent.body == Array(content[1000..<2_001_000]))
      }
    }
  }

  @Test("A file that is shorter than its slice is never sent as if it were whole")
  func shortFile() async throws {
    try await withTemporaryDirectory { folder in
      let file = folder.appending("clip.mp4")
      try DurableFile.write([UInt8](repeating: 1, count: 1000), to: file, permissions: 0o600)
      try await withServer(.reply(200)) { server in
        var request = HTTPRequest("PUT", server.url)
        request.body = .upload(HTTPFileSlice(file, count: 1001), contentType: "video/mp4")
        await #expect(throws: HTTPFailure.self) { try await client.exchange(request) }
        #expect(server.requests.isEmpty)
      }
    }
  }

  @Test("Each cookie comes as the server set it")
  func cookies() async throws {
    let cookies = ["a=1; Path=/; Expires=Wed, 01 Jan 2031 00:00:00 GMT", "b=2; HttpOnly"]
    let headers = cookies.map { ("Set-Cookie", $0) }
    try await withServer(.reply(200, headers: headers)) { server in
      let reply = try await client.exchange(HTTPRequest("GET", server.url))
      #expect(reply.cookies == cookies)
    }
  }

  @Test("Redirections are answers, and nobody else is contacted", arguments: [301, 302, 307, 308])
  func redirection(status: Int) async throws {
    let other = try LoopbackServer { _ in .reply(200) }
    defer { other.stop() }
    try await withServer(.reply(status, headers: [("Location", other.url)])) { server in
      let reply = try await client.exchange(HTTPRequest("GET", server.url))
      #expect(reply.status == status)
      #expect(server.requests.count == 1)
      #expect(other.requests.isEmpty)
    }
  }

  @Test("A long answer is cut, and says so")
  func longAnswer() async throws {
    try await withServer(.reply(200, body: [UInt8](repeating: 0x42, count: 500_000))) { server in
      var request = HTTPRequest("GET", server.url)
      request.limits.body = 1000
      let reply = try await client.exchange(request)
      #expect(reply.status == 200)
      #expect(reply.isCut)
      #expect(reply.body == [UInt8](repeating: 0x42, count: 1000))
    }
  }

  @Test("Headers without end are no answer")
  func longHeaders() async throws {
    let line = "X: " + String(repeating: "y", count: 1000) + "\r\n"
    let text = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 100) + "\r\n"
    try await withServer(.raw(Array(text.utf8))) { server in
      let failure = await failure(HTTPRequest("GET", server.url))
      #expect(failure?.wasSent == true)
    }
  }

  @Test("Where nobody listens nothing was sent")
  func refused() async throws {
    let server = try LoopbackServer { _ in .reply(200) }
    server.stop()
    let failure = await failure(HTTPRequest("GET", server.url))
    #expect(failure?.kind == .connecting)
    #expect(failure?.wasSent == false)
  }

  @Test("A host without address was sent nothing")
  func resolving() async {
    // RFC 6761: this name never has an address.
    let failure = await failure(HTTPRequest("GET", "http://handoff.invalid/"))
    #expect(failure?.kind == .resolving)
    #expect(failure?.wasSent == false)
  }

  @Test("A server without TLS was sent nothing over https")
  func noTLS() async throws {
    try await withServer(.reply(200)) { server in
      let failure = await failure(HTTPRequest("GET", "https://127.0.0.1:\(server.port)/"))
      #expect(failure?.kind == .tls)
      #expect(failure?.wasSent == false)
      #expect(server.requests.isEmpty)
    }
  }

  @Test(
    "An answer that breaks off came after the request",
    arguments: [
      "", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", "220 mail.example ESMTP\r\n",
    ]
  )
  func brokenAnswer(text: String) async throws {
    try await withServer(.raw(Array(text.utf8))) { server in
      let failure = await failure(HTTPRequest("GET", server.url))
      #expect(failure?.wasSent == true)
      #expect(server.requests.count == 1)
    }
  }

  @Test("No answer in time came after the request")
  func timeout() async throws {
    try await withServer(.silence) { server in
      var request = HTTPRequest("GET", server.url)
      request.limits.total = .milliseconds(200)
      let failure = await failure(request)
      #expect(failure?.kind == .timeout)
      #expect(failure?.wasSent == true)
    }
  }

  @Test("Cancelling ends the exchange at once")
  func cancellation() async throws {
    let arrived = AsyncStream.makeStream(of: Void.self)
    let server = try LoopbackServer { _ in
      arrived.continuation.yield()
      return .silence
    }
    defer { server.stop() }
    let request = HTTPRequest("GET", server.url)
    let start = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await #expect(throws: CancellationError.self) { try await client.exchange(request) }
      }
      for await _ in arrived.stream { break }
      group.cancelAll()
    }
    #expect(start.duration(to: .now) < .seconds(10))
  }

  @Test("What is cancelled already is not sent")
  func cancelledBefore() async throws {
    try await withServer(.reply(200)) { server in
      let request = HTTPRequest("GET", server.url)
      await withTaskGroup(of: Void.self) { group in
        group.cancelAll()
        group.addTask {
          await #expect(throws: CancellationError.self) { try await client.exchange(request) }
        }
      }
      #expect(server.requests.isEmpty)
    }
  }

  @Test(
    "Other schemes are not spoken",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "no url", ""]
  )
  func schemes(url: String) async {
    let failure = await failure(HTTPRequest("GET", url))
    #expect(failure?.kind == .request)
    #expect(failure?.wasSent == false)
  }

  @Test("A header cannot bring another along")
  func headerInjection() async throws {
    try await withServer(.reply(200)) { server in
      let request = HTTPRequest("GET", server.url, headers: [("X-One", "a\r\nX-Two: b")])
      #expect(await failure(request)?.kind == .request)
      #expect(server.requests.isEmpty)
    }
  }
}
