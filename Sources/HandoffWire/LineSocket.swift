import Glibc
import HandoffProtocol
package import LinuxSystem
import Synchronization

/// Lines over a stream socket in both directions, without a thread of its own and with bounds on both
/// queues.
///
/// The event loop reads while less than one line limit of lines waits to be taken. What is sent goes
/// out at once as far as the socket takes it; a peer that lets four line limits pile up is cut off.
package final class LineSocket: Sendable {
  private struct State {
    var framer: LineFramer
    var lines = Fifo<[UInt8]>()
    var waitingBytes = 0
    /// Reading is over: for good, or by an error.
    var ending: Result<Void, any Error>?
    var reader: CheckedContinuation<[UInt8]?, any Error>?
    var outgoing: [UInt8] = []
    var isClosed = false
    var registration: EventLoop.Registration?
  }

  private let socket: FileDescriptor
  private let limit: Int
  private let readingLimit: Int
  private let state: Mutex<State>
  private static let chunkSize = 65_536

  /// Takes a connected socket; the limits are those of one line, in bytes: the second, where there is
  /// one, of a line that is read.
  package init(_ socket: FileDescriptor, limit: Int, readingLimit: Int? = nil) {
    let readingLimit = readingLimit ?? limit
    self.socket = socket
    self.limit = limit
    self.readingLimit = readingLimit
    state = Mutex(State(framer: LineFramer(limit: readingLimit)))
  }

  /// Waits for the next line; nil when the peer has ended after a whole line.
  ///
  /// One caller at a time. Throws `CancellationError`; ``ProtocolError`` for a line that is too long or
  /// was not finished; ``SystemError``.
  package func nextLine() async throws -> [UInt8]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<[UInt8]?, any Error>? in
          if Task.isCancelled { return .failure(CancellationError()) }
          if let outcome = Self.take(&state) {
            listen(&state)
            return outcome
          }
          state.reader = continuation
          listen(&state)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let reader = state.withLock { state in
        defer { state.reader = nil }
        return state.reader
      }
      reader?.resume(throwing: CancellationError())
    }
  }

  private static func take(_ state: inout State) -> Result<[UInt8]?, any Error>? {
    if let line = state.lines.popFirst() {
      state.waitingBytes -= line.count
      return .success(line)
    }
    return state.ending.map { ending in ending.map { nil } }
  }

  /// Sends a line.
  ///
  /// - Throws: ``PeerError``.
  package func send(_ line: [UInt8]) throws(PeerError) {
    let failure = state.withLock { state -> PeerError? in
      if state.isClosed { return .notSent }
      let wasEmpty = state.outgoing.isEmpty
      state.outgoing += line
      state.outgoing.append(UInt8(ascii: "\n"))
      if wasEmpty, !flush(&state) { return .closed }
      if state.outgoing.count > 4 * limit { return .notReading }
      listen(&state)
      return nil
    }
    guard let failure else { return }
    if failure == .notReading { close() }
    throw failure
  }

  /// Ends the connection in both directions; lines that have come are still given out.
  package func close() {
    finish(.success(()))
    let registration = state.withLock { state in
      state.isClosed = true
      state.outgoing = []
      defer { state.registration = nil }
      return state.registration
    }
    registration?.cancel()
    UnixSocket.shutdown(socket)
  }

  // MARK: On the event loop

  private func ready() {
    let wantsBytes = state.withLock { state in
      if !flush(&state) { state.outgoing = [] }
      return state.ending == nil && !state.isClosed && state.waitingBytes < readingLimit
    }
    if wantsBytes { read() }
    state.withLock { listen(&$0) }
  }

  private func read() {
    do {
      let bytes = try [UInt8](unsafeUninitializedCapacity: Self.chunkSize) { buffer, count in
        count = try UnixSocket.receive(
          into: UnsafeMutableRawBufferPointer(buffer),
          from: socket,
          waiting: false
        ).count
      }
      if bytes.isEmpty { return try endOfStream() }
      try deliver(bytes)
    } catch let error as SystemError where error.errno == EAGAIN {
      // Nothing there after all: the loop tells when there is.
    } catch let error as SystemError where error.errno == ECONNRESET {
      // The peer went away and left unread what was sent to it.
      finish(.success(()))
    } catch {
      finish(.failure(error))
    }
  }

  private func endOfStream() throws {
    let unfinished = state.withLock { $0.framer.unfinished.count }
    if unfinished > 0 {
      throw ProtocolError(.malformedRequest, "ended within a message, after \(unfinished) bytes")
    }
    finish(.success(()))
  }

  private func deliver(_ bytes: [UInt8]) throws {
    let (reader, line) = try state.withLock { state in
      let lines = try state.framer.append(bytes)
      for line in lines { state.lines.append(line) }
      state.waitingBytes += lines.reduce(0) { $0 + $1.count }
      guard let reader = state.reader, let line = state.lines.popFirst() else {
        return (nil as CheckedContinuation<[UInt8]?, any Error>?, [UInt8]())
      }
      state.reader = nil
      state.waitingBytes -= line.count
      return (reader, line)
    }
    reader?.resume(returning: line)
  }

  private func finish(_ ending: Result<Void, any Error>) {
    let reader = state.withLock { state in
      guard state.ending == nil else { return nil as CheckedContinuation<[UInt8]?, any Error>? }
      state.ending = ending
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(with: ending.map { nil })
  }

  // MARK: Under the lock

  /// Sends what the socket takes; false when the peer is gone.
  private func flush(_ state: inout State) -> Bool {
    var sent = 0
    defer { state.outgoing.removeFirst(sent) }
    while sent < state.outgoing.count {
      do throws(SystemError) {
        sent += try UnixSocket.send(state.outgoing[sent...], over: socket, waiting: false)
      } catch {
        return error.errno == EAGAIN
      }
    }
    return true
  }

  /// Waits for exactly what is of use; for nothing, it leaves the loop, because a hang-up is told
  /// again and again to those who wait.
  private func listen(_ state: inout State) {
    var interest: EventLoop.Readiness = []
    if state.ending == nil, state.waitingBytes < readingLimit { interest.insert(.readable) }
    if !state.outgoing.isEmpty { interest.insert(.writable) }
    if state.isClosed || interest.isEmpty {
      state.registration?.cancel()
      state.registration = nil
      return
    }
    do {
      if let registration = state.registration {
        try registration.update(interest)
      } else {
        state.registration = try EventLoop.process.register(socket, interest) { [weak self] _ in
          self?.ready()
        }
      }
    } catch {
      let reader = state.reader
      state.reader = nil
      state.ending = .failure(error)
      reader?.resume(throwing: error)
    }
  }

  deinit {
    state.withLock { $0.registration }?.cancel()
  }
}
