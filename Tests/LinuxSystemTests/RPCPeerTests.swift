import Glibc
import HandoffProtocol
import HandoffWire
import LinuxSystem
import Synchronization
import Testing

@Suite("An RPC peer", .timeLimit(.minutes(1)))
struct RPCPeerTests {
  private static let echo: RPCPeer.Handler = { method, params throws(RPCMessage.Failure) in
    switch method {
    case "echo": return params ?? .null
    case "fail":
      throw .refused(ResultError(.assetDeleted, "it is gone", effect: .none))
    default: throw .unsupported(method)
    }
  }

  /// Runs both sides of a connection around a piece of work with the first.
  private func connected(
    _ ours: @escaping RPCPeer.Handler = echo,
    _ theirs: @escaping RPCPeer.Handler = echo,
    _ work: (RPCPeer, RPCPeer) async throws -> Void
  ) async throws {
    let (one, other) = try UnixSocket.pair()
    let near = RPCPeer(socket: one, handler: ours)
    let far = RPCPeer(socket: other, handler: theirs)
    try await withThrowingTaskGroup { group in
      group.addTask { try await near.run() }
      group.addTask { try await far.run() }
      try await work(near, far)
      near.close()
      try await group.waitForAll()
    }
  }

  /// A peer whose other side is a bare socket.
  private func facing(
    limit: Int = RPCMessage.maximumSize,
    _ work: (RPCPeer, FileDescriptor) async throws -> Void
  ) async throws {
    let (one, other) = try UnixSocket.pair()
    let peer = RPCPeer(socket: one, limit: limit, handler: Self.echo)
    try await withThrowingTaskGroup { group in
      group.addTask { try await peer.run() }
      try await work(peer, other)
      try other.close()
      try await group.waitForAll()
    }
  }

  @Test("answers calls in both directions at once")
  func bothDirections() async throws {
    try await connected { near, far in
      try await withThrowingTaskGroup { group in
        for number in 0..<500 {
          group.addTask {
            let side = number.isMultiple(of: 2) ? near : far
            let answer = try await side.call("echo", .integer(Int64(number)))
            #expect(answer == .integer(Int64(number)))
          }
        }
        try await group.waitForAll()
      }
      #expect(try await near.call("echo", .null) == .null)
    }
  }

  @Test("passes on failures, and answers unknown methods with unsupported")
  func failures() async throws {
    try await connected { near, _ in
      await #expect {
        _ = try await near.call("fail")
      } throws: { error in
        (error as? RPCMessage.Failure)?.data?.code == .assetDeleted
      }
      await #expect(throws: RPCMessage.Failure.unsupported("other")) {
        _ = try await near.call("other")
      }
    }
  }

  @Test("can call back while it handles a call")
  func nested() async throws {
    let far = Mutex<RPCPeer?>(nil)
    let nesting: RPCPeer.Handler = { _, params throws(RPCMessage.Failure) in
      let peer = far.withLock { $0 }
      do {
        return try await peer?.call("echo", params ?? .null) ?? .null
      } catch {
        throw RPCMessage.Failure(code: 1, message: "\(error)")
      }
    }
    try await connected(Self.echo, nesting) { near, other in
      far.withLock { $0 = other }
      let answer = try await near.call("nested", .string("x"))
      #expect(answer == .string("x"))
    }
  }

  @Test("gives up a call after its time, and when its task is cancelled")
  func givingUp() async throws {
    try await facing { peer, _ in
      await #expect(throws: PeerError.timedOut(method: "silence")) {
        _ = try await peer.call("silence", within: .milliseconds(20))
      }
      let task = Task { try await peer.call("silence") }
      task.cancel()
      await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
  }

  @Test("fails its calls when the connection ends")
  func ending() async throws {
    let (one, other) = try UnixSocket.pair()
    let peer = RPCPeer(socket: one, handler: Self.echo)
    async let running: Void = peer.run()
    let answer = Task { try await peer.call("silence") }
    try await EventLoop.process.readable(other)
    try other.close()
    await #expect(throws: PeerError.closed) { _ = try await answer.value }
    try await running
    await #expect(throws: PeerError.notSent) { _ = try await peer.call("late") }
  }

  @Test(
    "ends the connection at what is no message",
    arguments: [
      "garbage\n", "{}\n", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"echo\"}\n", "{\"jsonrpc\"",
      String(repeating: "x", count: 2000),
    ]
  )
  func garbage(_ text: String) async throws {
    await #expect(throws: ProtocolError.self) {
      try await facing(limit: 1000) { _, socket in
        try socket.write(Array(text.utf8))
      }
    }
  }

  @Test("handles what came before the end to its end")
  func finishesHandlers() async throws {
    let (one, other) = try UnixSocket.pair()
    let seen = Mutex(0)
    let peer = RPCPeer(socket: one) { _, _ throws(RPCMessage.Failure) in
      for _ in 0..<100 { await Task.yield() }
      if !Task.isCancelled { seen.withLock { $0 += 1 } }
      return .null
    }
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n"
    try other.write(Array(String(repeating: line, count: 300).utf8))
    try other.close()
    try await peer.run()
    #expect(seen.withLock { $0 } == 300)
  }

  @Test("takes what has an order in that order, and answers it, before the next is read")
  func ordered() async throws {
    let (one, other) = try UnixSocket.pair()
    let seen = Mutex<[Int64]>([])
    let peer = RPCPeer(
      socket: one,
      inOrder: { method, params in
        guard method == "ordered", case .integer(let number)? = params?["n"] else { return nil }
        seen.withLock { $0.append(number) }
        return .success(.null)
      },
      handler: { method, _ throws(RPCMessage.Failure) in throw .unsupported(method) }
    )
    let lines = (1...2000).map {
      "{\"jsonrpc\":\"2.0\",\"method\":\"ordered\",\"params\":{\"n\":\($0)}}\n"
    }
    try await withThrowingTaskGroup { group in
      group.addTask { try await peer.run() }
      try await BlockingThread("flood").run {
        try other.write(Array(lines.joined().utf8))
        try other.close()
      }
      try await group.waitForAll()
    }
    #expect(seen.withLock { $0 } == Array(1...2000))
  }

  @Test("ends the connection to a peer that does not read")
  func notReading() async throws {
    try await facing(limit: 100_000) { peer, _ in
      #expect(throws: PeerError.notReading) {
        for _ in 0..<1000 {
          try peer.notify("flood", .string(String(repeating: "x", count: 50_000)))
        }
      }
      #expect(throws: PeerError.notSent) { try peer.notify("more", .null) }
    }
  }

  @Test("holds back a peer that floods, without losing a line")
  func backPressure() async throws {
    let seen = Mutex(0)
    let counting: RPCPeer.Handler = { _, _ in
      seen.withLock { $0 += 1 }
      return .null
    }
    let (one, other) = try UnixSocket.pair()
    let peer = RPCPeer(socket: one, limit: 1000, handler: counting)
    async let running: Void = peer.run()
    let line = "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"
    let flood = Array(String(repeating: line, count: 4000).utf8)
    try await BlockingThread("flood").run {
      try other.write(flood)
      try other.close()
    }
    try await running
    #expect(seen.withLock { $0 } == 4000)
  }

  @Test("whose run is cancelled closes the connection")
  func cancelled() async throws {
    let (one, other) = try UnixSocket.pair()
    let peer = RPCPeer(socket: one, handler: Self.echo)
    let task = Task { try await peer.run() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await EventLoop.process.readable(other)
    let rest = try other.readAll(limit: 1)
    #expect(rest.isEmpty)
  }
}
