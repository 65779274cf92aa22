package import HandoffLog
package import HandoffProtocol
import HandoffWire
import LinuxSystem
package import Paths

/// Serves the control socket: any number of connections, each with any number of questions.
package struct ControlServer: Sendable {
  /// Answers one question.
  package typealias Answer =
    @Sendable (_ method: ControlMethod, _ parameters: JSONValue?) async throws -> JSONValue

  /// The longest answer, in bytes: a list of everything that is held may be long.
  package static let maximumAnswer = 64 << 20

  private let listener: FileDescriptor
  private let answer: Answer
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
        group.addTask { await serve(connection) }
      }
    }
  }

  private func serve(_ connection: FileDescriptor) async {
    let peer = RPCPeer(socket: connection, limit: Self.maximumAnswer, handler: handle)
    do {
      try await peer.run()
    } catch is CancellationError {
      // The broker stops.
    } catch {
      logger.warning("A control connection broke the protocol", [.error: "\(error)"])
    }
  }

  @Sendable
  private func handle(
    _ name: String,
    _ parameters: JSONValue?
  ) async throws(RPCMessage.Failure) -> JSONValue {
    guard let method = ControlMethod(rawValue: name) else { throw .unsupported(name) }
    do {
      return try await answer(method, parameters)
    } catch let error as ControlError {
      throw RPCMessage.Failure(code: error.code.rawValue, message: error.message)
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
