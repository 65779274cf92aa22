import Glibc
import HandoffProtocol
import HandoffWire
import LinuxSystem
import Paths
import Synchronization

/// Answers a client as a script says, one connection after the other, over a real control socket.
final class StandInBroker: Sendable {
  /// What becomes of one question.
  enum Reaction: Sendable {
    case answers(JSONValue)
    case refuses(RPCMessage.Failure)
    /// The connection ends, as when the broker dies after it took the question.
    case hangsUp
    /// The connection ends after a time.
    case holds(Duration)
  }

  private static let thread = BlockingThread("stand-in")

  private let reactions: Mutex<[Reaction]>
  private let heard = Mutex<[(method: String, parameters: JSONValue)]>([])

  init(_ reactions: [Reaction]) {
    self.reactions = Mutex(reactions)
  }

  /// The questions so far.
  var questions: [(method: String, parameters: JSONValue)] { heard.withLock { $0 } }

  /// Serves until cancelled.
  func run(_ listener: FileDescriptor) async throws {
    while !Task.isCancelled {
      let connection = try await UnixSocket.accept(listener)
      let peer = Mutex<RPCPeer?>(nil)
      let served = RPCPeer(socket: connection) {
        [self] method, parameters throws(RPCMessage.Failure) in
        heard.withLock { $0.append((method, parameters ?? .null)) }
        let next = reactions.withLock { $0.isEmpty ? .hangsUp : $0.removeFirst() }
        switch next {
        case .answers(let answer): return answer
        case .refuses(let failure): throw failure
        case .holds(let time):
          await Self.thread.run { () throws(Never) in
            _ = poll(nil, 0, CInt(time / .milliseconds(1)))
          }
          fallthrough
        case .hangsUp:
          peer.withLock { $0 }?.close()
          return .null
        }
      }
      peer.withLock { $0 = served }
      try await served.run()
      peer.withLock { $0 = nil }
    }
  }
}
