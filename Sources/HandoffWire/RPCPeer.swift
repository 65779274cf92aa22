package import HandoffProtocol
package import LinuxSystem
import Synchronization

/// One side of a JSON-RPC 2.0 connection over a socket, one message a line, calls in both directions.
///
/// ``run()`` must be running for answers to come in. Lines are read and written without blocking a
/// thread of the pool; queues are bounded in both directions.
package final class RPCPeer: Sendable {
  /// Answers one call, or takes one notification (whose answer is dropped).
  package typealias Handler =
    @Sendable (_ method: String, _ params: JSONValue?) async throws(RPCMessage.Failure) -> JSONValue

  /// Answers a message before the next is read, so that what is told in an order is heard in it.
  ///
  /// nil leaves it to the ``Handler``, which handles many at once. It must not block.
  package typealias OrderedHandler =
    @Sendable (_ method: String, _ params: JSONValue?) -> Result<JSONValue, RPCMessage.Failure>?

  private struct Call {
    let method: String
    let continuation: CheckedContinuation<JSONValue, any Error>
    var timer: EventLoop.Registration?
  }

  private struct State {
    var lastID: Int64 = 0
    var calls: [Int64: Call] = [:]
    var hasEnded = false
    var running = 0
    var waiting = Fifo<RPCMessage>()
  }

  private let socket: LineSocket
  private let limit: Int
  private let readingLimit: Int
  private let concurrency: Int
  private let forgivesLines: Bool
  private let inOrder: OrderedHandler
  private let hungUp: @Sendable () -> Void
  private let handler: Handler
  private let state = Mutex(State())
  /// Messages of the peer that wait for a free place.
  ///
  /// More calls are answered "busy"; more
  /// notifications, which are signs of life and log lines, are dropped.
  private static let maximumWaiting = 4096

  /// Takes care of a connected socket from now on.
  ///
  /// The limit is that of a line in either direction, in bytes, unless there is another for what is
  /// read; the concurrency is the number of calls of the other side that are handled at once. A side
  /// that forgives lines answers one that is no message with JSON-RPC's -32700 and reads on, as a
  /// receiver does; the broker ends the connection. `hungUp` is called once, when nothing more is read, which
  /// may be before the handlers of what was read have ended.
  package init(
    socket: FileDescriptor,
    limit: Int = RPCMessage.maximumSize,
    readingLimit: Int? = nil,
    concurrency: Int = 64,
    forgivesLines: Bool = false,
    inOrder: @escaping OrderedHandler = { _, _ in nil },
    hungUp: @escaping @Sendable () -> Void = {},
    handler: @escaping Handler
  ) {
    let readingLimit = readingLimit ?? limit
    self.socket = LineSocket(socket, limit: limit, readingLimit: readingLimit)
    self.limit = limit
    self.readingLimit = readingLimit
    self.concurrency = concurrency
    self.forgivesLines = forgivesLines
    self.inOrder = inOrder
    self.hungUp = hungUp
    self.handler = handler
  }

  /// Serves the connection until either side closes it; once for each peer.
  ///
  /// Handlers are child tasks. When the connection ends they are finished, not cancelled: a result
  /// that has arrived is still recorded. Cancelling this call cancels them.
  ///
  /// - Throws: ``ProtocolError`` for a line that is no message, is too long or was not finished, after
  ///   which the connection is closed; `CancellationError`.
  package func run() async throws {
    let failure = await withDiscardingTaskGroup { group -> (any Error)? in
      defer {
        endCalls()
        hungUp()
      }
      do {
        while let line = try await socket.nextLine() {
          try take(line, &group)
          // A peer that never pauses gives way to everybody else after each message.
          await Task.yield()
        }
        return nil
      } catch {
        socket.close()
        return error
      }
    }
    socket.close()
    if let failure { throw failure }
  }

  /// Calls the other side and waits for its answer.
  ///
  /// Without a time it waits as long as the connection lasts. Throws ``RPCMessage/Failure`` if the
  /// other side answers so, ``PeerError``, `CancellationError`.
  package func call(
    _ method: String,
    _ params: JSONValue = .object([:]),
    within time: Duration? = nil
  ) async throws -> JSONValue {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let line = try encode(.call(.number(id), method, params))
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        begin(id, Call(method: method, continuation: continuation), line, time)
      }
    } onCancel: {
      finish(id, .failure(CancellationError()))
    }
  }

  /// Tells the other side something that has no answer.
  ///
  /// - Throws: ``PeerError``, ``ProtocolError`` if it is too long.
  package func notify(_ method: String, _ params: JSONValue) throws {
    try socket.send(encode(.notification(method, params)))
  }

  /// Ends the connection; open calls fail and ``run()`` returns.
  package func close() {
    socket.close()
    endCalls()
  }

  // MARK: Calls of this side

  private func begin(_ id: Int64, _ call: Call, _ line: [UInt8], _ time: Duration?) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.calls[id] = call }
      return state.hasEnded
    }
    if hasEnded { return call.continuation.resume(throwing: PeerError.notSent) }
    if let time {
      let timer = EventLoop.process.after(time) { [weak self] in
        self?.finish(id, .failure(PeerError.timedOut(method: call.method)))
      }
      let isOver = state.withLock { state in
        state.calls[id]?.timer = timer
        return state.calls[id] == nil
      }
      if isOver { timer.cancel() }
    }
    // It may have been cancelled before it was known.
    if Task.isCancelled { return finish(id, .failure(CancellationError())) }
    do {
      try socket.send(line)
    } catch {
      finish(id, .failure(error))
    }
  }

  private func finish(_ id: Int64, _ result: Result<JSONValue, any Error>) {
    guard let call = state.withLock({ $0.calls.removeValue(forKey: id) }) else { return }
    call.timer?.cancel()
    call.continuation.resume(with: result)
  }

  private func endCalls() {
    let calls = state.withLock { state in
      state.hasEnded = true
      defer { state.calls = [:] }
      return state.calls
    }
    for call in calls.values {
      call.timer?.cancel()
      call.continuation.resume(throwing: PeerError.closed)
    }
  }

  // MARK: Messages of the other side

  private func take(_ line: [UInt8], _ group: inout DiscardingTaskGroup) throws {
    do {
      try takeMessage(line, &group)
    } catch let error as ProtocolError where forgivesLines {
      let failure = RPCMessage.Failure(code: -32_700, message: error.message)
      try socket.send(encode(.failure(nil, failure)))
    }
  }

  private func takeMessage(_ line: [UInt8], _ group: inout DiscardingTaskGroup) throws {
    let message = try WireCoder.decode(RPCMessage.self, from: line, limit: readingLimit)
    guard message.jsonrpc == "2.0" else {
      throw ProtocolError(.malformedRequest, "not JSON-RPC 2.0")
    }
    if let method = message.method {
      if let answer = inOrder(method, message.params) { return reply(to: message, answer) }
      return admit(message, &group)
    }
    guard case .number(let id) = message.id else {
      throw ProtocolError(.malformedRequest, "an answer without the number of a call")
    }
    // The number of a call that was given up is no longer known: its answer comes too late.
    finish(id, message.error.map { .failure($0) } ?? .success(message.result ?? .null))
  }

  private func admit(_ message: RPCMessage, _ group: inout DiscardingTaskGroup) {
    enum Place {
      case free
      case waits
      case none
    }
    let place = state.withLock { state -> Place in
      if state.running < concurrency {
        state.running += 1
        return .free
      }
      guard state.waiting.count < Self.maximumWaiting else { return .none }
      state.waiting.append(message)
      return .waits
    }
    switch place {
    case .free: group.addTask { await self.work(from: message) }
    case .waits: break
    case .none: reply(to: message, .failure(.init(code: -32_001, message: "busy")))
    }
  }

  /// Handles a call and then those that have come to wait for its place.
  private func work(from first: RPCMessage) async {
    var next: RPCMessage? = first
    while let message = next {
      await handle(message)
      await Task.yield()
      next = state.withLock { state in
        let next = state.waiting.popFirst()
        if next == nil { state.running -= 1 }
        return next
      }
    }
  }

  private func handle(_ message: RPCMessage) async {
    do throws(RPCMessage.Failure) {
      let answer = try await handler(message.method ?? "", message.params)
      reply(to: message, .success(answer))
    } catch {
      reply(to: message, .failure(error))
    }
  }

  private func reply(to message: RPCMessage, _ result: Result<JSONValue, RPCMessage.Failure>) {
    guard let id = message.id else { return }
    do {
      switch result {
      case .success(let value): try socket.send(encode(.answer(id, value)))
      case .failure(let failure): try socket.send(encode(.failure(id, failure)))
      }
    } catch is PeerError {
      // The caller is gone: nobody waits for the answer.
    } catch {
      let failure = RPCMessage.Failure(code: -32_603, message: "the answer is too long")
      reply(to: message, .failure(failure))
    }
  }

  private func encode(_ message: RPCMessage) throws -> [UInt8] {
    let line = try WireCoder.encode(message)
    guard line.count <= limit else {
      throw ProtocolError(.malformedRequest, "\(line.count) bytes, more than \(limit)")
    }
    return line
  }
}
