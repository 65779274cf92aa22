import HandoffProtocol
import HandoffWire
import LinuxSystem
import Synchronization

/// The broker's end of a plugin's socket: keeps every message until somebody asks for it.
///
/// The kit's checks are scripts, so nothing is answered by itself: ``BrokerDesk`` does that.
final class BrokerLink: Sendable {
  private struct Waiter {
    let id: UInt64
    let wants: @Sendable (Incoming) -> Bool
    let continuation: CheckedContinuation<Incoming?, Never>
    var timer: EventLoop.Registration?
  }

  private struct State {
    var lastCall: Int64 = 0
    var lastWaiter: UInt64 = 0
    var arrived: [Incoming] = []
    var waiters: [Waiter] = []
    var malformed: String?
    var hasEnded = false
  }

  private let socket: LineSocket
  private let state = Mutex(State())
  let transcript: Transcript

  init(_ socket: FileDescriptor, transcript: Transcript) {
    self.socket = LineSocket(socket, limit: RPCMessage.maximumSize + 1)
    self.transcript = transcript
  }

  /// Reads until the plugin hangs up.
  ///
  /// - Parameter take: is shown each message of the plugin; false when somebody has to ask for it.
  func run(_ take: @Sendable (Incoming) -> Bool) async {
    do {
      while let line = try await socket.nextLine() {
        transcript.add("plugin", line)
        let incoming = Incoming(line)
        if case .malformed(let why) = incoming { note(why) }
        if !take(incoming) { arrive(incoming) }
      }
    } catch let error as ProtocolError {
      note(error.message)
    } catch {
      // Reset, or the check is over: either way nothing more comes.
    }
    end()
  }

  /// Why a line was no message, where one was not.
  var malformed: String? { state.withLock { $0.malformed } }
  /// The plugin has hung up.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Hangs up.
  func close() {
    socket.close()
  }

  // MARK: Sending

  /// Sends a call and waits for its answer.
  ///
  /// - Throws: ``Finding`` when none comes.
  func call(
    _ method: String,
    _ parameters: JSONValue,
    within time: Duration
  ) async throws -> Incoming.Answer {
    let id = state.withLock { state in
      state.lastCall += 1
      return state.lastCall
    }
    try send(.call(.number(id), method, parameters))
    let incoming = await next(within: time) { incoming in
      if case .answer(id, _) = incoming { return true }
      return false
    }
    guard case .answer(_, let answer) = incoming else {
      throw Finding(
        silence("no answer to `\(method)`", time),
        mend: "Answer every call with its own `id`, also those that you do not know, and write the "
          + "line out at once."
      )
    }
    return answer
  }

  /// Answers a call of the plugin.
  func answer(_ id: RPCMessage.ID?, _ answer: Incoming.Answer) {
    guard let id else { return }
    do {
      switch answer {
      case .result(let value): try send(.answer(id, value))
      case .error(let failure): try send(.failure(id, failure))
      }
    } catch {
      // It has hung up; whoever waits for a message of it is told so.
    }
  }

  private func send(_ message: RPCMessage) throws {
    try send(line: try WireCoder.encode(message))
  }

  /// Sends a line as it is.
  func send(line: [UInt8]) throws {
    transcript.add("broker", line)
    do {
      try socket.send(line)
    } catch PeerError.notReading {
      throw Finding(
        "the plugin does not read its socket: four mebibytes wait in it",
        mend: "Read the socket until it ends, also while handoffs are worked on."
      )
    } catch {
      // What it wrote before is still read; that it has hung up is known now.
      state.withLock { $0.hasEnded = true }
      throw Finding(
        "the plugin has hung up",
        mend:
          "Answer every call with its own `id`, and end only on `shutdown`, SIGTERM or the end of "
          + "the socket."
      )
    }
  }

  // MARK: Receiving

  /// The first message, from those that have come or will come, that is wanted; nil if there is none in
  /// time.
  func next(
    within time: Duration,
    _ wants: @escaping @Sendable (Incoming) -> Bool
  ) async -> Incoming? {
    await withCheckedContinuation { continuation in
      let found = state.withLock { state -> Incoming?? in
        if let place = state.arrived.firstIndex(where: wants) {
          return .some(state.arrived.remove(at: place))
        }
        if state.hasEnded { return .some(nil) }
        state.lastWaiter += 1
        let id = state.lastWaiter
        let timer = EventLoop.process.after(time) { [weak self] in self?.giveUp(id) }
        state.waiters.append(
          Waiter(id: id, wants: wants, continuation: continuation, timer: timer)
        )
        return .none
      }
      if let found { continuation.resume(returning: found) }
    }
  }

  /// Why nothing came: the plugin has ended, or took too long.
  func silence(_ what: String, _ time: Duration) -> String {
    if let malformed { return "\(what); a line of the plugin is no message: \(malformed)" }
    return hasEnded ? "\(what): the plugin has hung up" : "\(what) within \(time)"
  }

  private func note(_ malformed: String) {
    state.withLock { $0.malformed = $0.malformed ?? malformed }
  }

  private func arrive(_ incoming: Incoming) {
    let waiter = state.withLock { state -> Waiter? in
      guard let place = state.waiters.firstIndex(where: { $0.wants(incoming) }) else {
        state.arrived.append(incoming)
        return nil
      }
      return state.waiters.remove(at: place)
    }
    waiter?.timer?.cancel()
    waiter?.continuation.resume(returning: incoming)
  }

  private func giveUp(_ id: UInt64) {
    let waiter = state.withLock { state -> Waiter? in
      guard let place = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      return state.waiters.remove(at: place)
    }
    waiter?.continuation.resume(returning: nil)
  }

  private func end() {
    let waiters = state.withLock { state in
      state.hasEnded = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters {
      waiter.timer?.cancel()
      waiter.continuation.resume(returning: nil)
    }
  }
}
