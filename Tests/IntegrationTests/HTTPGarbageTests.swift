import Glibc
import HTTPClient
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What anybody can do to the API from outside.
@Suite("Garbage on the API", .timeLimit(.minutes(3)))
struct HTTPGarbageTests {
  /// Scaled: the broker under test is a debug build beside other tests.
  private static let guesses = 10_000
  private static let halfOpen = 200
  private static let results = 20

  @Test("case 88: guesses and garbage hold up no result, cost no memory and few lines of log")
  func garbage() async throws {
    try await HTTPScene.run(answer: "callback", behaviour: HookReceiver.answering(.reply(202))) {
      scene in
      for number in 0..<Self.results { try await scene.send(UInt64(number)) }
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count { $0["status"]?.text == "accepted" } == Self.results
      }
      let port = try #require(UInt16(try scene.broker.api.split(separator: ":")[2]))
      let before = try await scene.broker.residentBytes
      let lines = try scene.broker.wholeLog.split(separator: "\n").count
      let sockets = try (0..<Self.halfOpen).map { _ in
        let socket = try TCPSocket.connect(host: "127.0.0.1", port: port)
        _ = try UnixSocket.send(Array("POST /v3/results HTT".utf8)[...], over: socket)
        return socket
      }
      let deliveries = try scene.receiver.deliveries
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await Self.guess(port, Self.guesses) }
        group.addTask { try await Self.flood(port, bytes: 100 << 20) }
        let start = ContinuousClock.now
        for delivery in deliveries {
          #expect(try await scene.receiver.succeed(delivery, at: scene.broker).status == 200)
        }
        #expect(start.duration(to: .now) < .seconds(1))
        try await group.waitForAll()
      }
      withExtendedLifetime(sockets) {}
      let grown = try await scene.broker.residentBytes - before
      #expect(grown < 48 << 20, "grew by \(grown >> 20) MiB")
      // The first refusal has a line at once, the others come with the interval's.
      let said = try await poll(within: .seconds(20)) { () -> [Substring]? in
        let log = try scene.broker.wholeLog.split(separator: "\n")
        let said = log.dropFirst(lines).filter { $0.contains("refused") }
        return said.contains { $0.contains("auth") } ? said : nil
      }
      let count = try #require(said).count
      // Each success has a line of its own.
      #expect((1...20).contains(count), "\(count) lines")
    }
  }

  /// Signed by nobody, over one connection after another.
  private static func guess(_ port: UInt16, _ count: Int) async throws {
    let thread = BlockingThread("guesses")
    try await thread.run {
      let body = #"{"protocol_version":3,"state":"1.guess","result":"success"}"#
      let request =
        "POST /v3/results HTTP/1.1\r\nHost: localhost\r\nwebhook-id: a\r\n"
        + "webhook-timestamp: \(Timestamp.now.milliseconds / 1000)\r\n"
        + "webhook-signature: v1,AAAA\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
      defer { buffer.deallocate() }
      let socket = try TCPSocket.connect(host: "127.0.0.1", port: port)
      for _ in 0..<count {
        _ = try UnixSocket.send(Array(request.utf8)[...], over: socket)
        let read = try socket.read(into: buffer)
        let answer = String(decoding: buffer[..<read], as: UTF8.self)
        guard answer.hasPrefix("HTTP/1.1 401 ") else { throw TestSupportError(answer) }
      }
    }
  }

  /// One body that never ends, without a declared length.
  private static func flood(_ port: UInt16, bytes: Int) async throws {
    let thread = BlockingThread("flood")
    await thread.run {
      do {
        let socket = try TCPSocket.connect(host: "127.0.0.1", port: port)
        let head =
          "POST /v3/results HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        _ = try UnixSocket.send(Array(head.utf8)[...], over: socket)
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 120, count: 65_536) + [13, 10]
        var sent = 0
        while sent < bytes {
          sent += try UnixSocket.send(chunk[...], over: socket)
        }
        Issue.record("a body of \(bytes) bytes was taken")
      } catch {
        // The connection was ended under it: that is what has to happen.
      }
    }
  }
}

extension RunningBroker {
  /// Memory of the broker's process.
  var residentBytes: Int {
    get async throws {
      guard case .integer(let id) = try await json("status")["pid"] else { return 0 }
      let text = String(
        decoding: try FileDescriptor.open(BytePath("/proc/\(id)/statm"), O_RDONLY)
          .readAll(limit: 1000),
        as: UTF8.self
      )
      return (Int(text.split(separator: " ")[1]) ?? 0) * 4096
    }
  }
}
