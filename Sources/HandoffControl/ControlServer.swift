package import HandoffLog
package import HandoffProtocol
import HandoffWire
import LinuxSystem
package import Paths
import Synchronization

/// Who is at the other end of a control connection.
package struct ControlPeer: Sendable {
  /// The user id; nil where the kernel did not tell it.
  package let user: UInt32?
  /// Whether it is still there.
  package let presence = ControlPresence()

  package init(user: UInt32?) {
    self.user = user
  }
}

/// Serves the control socket: any number of connections, each with any number of questions.
package struct ControlServer: Sendable {
  /// Answers one question.
  package typealias Answer =
    @Sendable (
      _ method: ControlMethod,
      _ parameters: JSONValue?,
      _ peer: ControlPeer
    ) async throws -> JSONValue

  /// The longest answer, in bytes: a list of everything that is held may be long.
  package static let maximumAnswer = 64 << 20
  /// More connections are closed at once: each holds a descriptor and may hold an unfinished question.
  package static let maximumConnections = 512

  private let listener: FileDescriptor
  private let answer: Answer
  private let connections = OpenConnections()
  private let logger: Logger

  /// Listens on the socket file, mode 0600; one that a dead broker left behind is replaced.
  package init(_ socket: BytePath, logger: Logger, answer: @escaping Answer) throws {
    listener = try UnixSocket.listen(socket)
    self.answer = answer
    self.logger = logger
  }

  /// Serves until cancelled.
  package func run() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let connection = try await UnixSocket.accept(listener)
        guard admit() else { continue }
        group.addTask {
          await serve(connection)
          leave()
        }
      }
    }
  }

  private func admit() -> Bool {
    let isTurned = connections.value.withLock { open in
      if open < Self.maximumConnections {
        open += 1
        return false
      }
      return true
    }
    if isTurned { logger.warning("A control connection was closed: there are too many") }
    return !isTurned
  }

  private func leave() {
    connections.value.withLock { $0 -= 1 }
  }

  private func serve(_ connection: FileDescriptor) async {
    let asker = asker(connection)
    let peer = RPCPeer(
      socket: connection,
      limit: Self.maximumAnswer,
      readingLimit: RPCMessage.maximumSize,
      hungUp: { asker.presence.end() },
      handler: { name, parameters throws(RPCMessage.Failure) in
        try await handle(name, parameters, asker)
      }
    )
    do {
      try await peer.run()
    } catch is CancellationError {
      // The broker stops.
    } catch {
      logger.warning("A control connection broke the protocol", [.error: "\(error)"])
    }
  }

  private func asker(_ connection: FileDescriptor) -> ControlPeer {
    do {
      return ControlPeer(user: try UnixSocket.peerUser(connection))
    } catch {
      logger.warning("The kernel does not tell who asks", [.error: "\(error)"])
      return ControlPeer(user: nil)
    }
  }

  private func handle(
    _ name: String,
    _ parameters: JSONValue?,
    _ asker: ControlPeer
  ) async throws(RPCMessage.Failure) -> JSONValue {
    guard let method = ControlMethod(rawValue: name) else { throw .unsupported(name) }
    do {
      return try await answer(method, parameters, asker)
    } catch let error as ControlError {
      throw RPCMessage.Failure(
        code: error.code.rawValue,
        message: error.message,
        data: error.reason
      )
    } catch let error as ProtocolError {
      throw .invalidParameters(error.message)
    } catch is CancellationError {
      let code = ControlError.Code.unavailable.rawValue
      throw RPCMessage.Failure(code: code, message: "the broker stops")
    } catch {
      throw RPCMessage.Failure(code: ControlError.Code.failed.rawValue, message: "\(error)")
    }
  }
}

/// How many connections are open; shared by the copies of a server.
private final class OpenConnections: Sendable {
  let value = Mutex(0)
}
