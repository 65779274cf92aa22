import HandoffProtocol
import HandoffWire
import LinuxSystem
import Paths

/// The connection ended before the answer, or there was none: the broker may have taken the question.
struct ConnectionLost: Error {
  let reason: String
}

/// One question over a connection of its own.
enum BrokerCall {
  /// The longest answer, in bytes.
  private static let maximumAnswer = 1 << 20
  /// The broker stops.
  private static let stopping = -32_010
  /// What the question is about does not exist.
  private static let notFound = -32_011
  /// A check refused it.
  private static let refused = -32_012
  /// The broker has too many questions at once.
  private static let busy = -32_001

  /// - Throws: ``ConnectionLost``, after which the same question may be asked again;
  ///   ``HandoffClientError``; `CancellationError`.
  static func answer(
    to method: String,
    _ parameters: JSONValue,
    over socket: BytePath
  ) async throws -> JSONValue {
    let peer = RPCPeer(socket: try connect(socket), limit: maximumAnswer) {
      method,
      _ throws(RPCMessage.Failure) in
      throw .unsupported(method)
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await peer.run() }
      defer { peer.close() }
      do {
        return try await peer.call(method, parameters)
      } catch let failure as RPCMessage.Failure {
        throw error(failure)
      } catch let lost as PeerError {
        throw ConnectionLost(reason: "\(lost)")
      }
    }
  }

  private static func connect(_ socket: BytePath) throws(ConnectionLost) -> FileDescriptor {
    do {
      return try UnixSocket.connect(socket)
    } catch {
      throw ConnectionLost(reason: "\(error)")
    }
  }

  private static func error(_ failure: RPCMessage.Failure) -> any Error {
    switch failure.code {
    case stopping, busy: return ConnectionLost(reason: failure.message)
    case notFound:
      return HandoffClientError(.notFound, failure.message, failure.data)
    case refused: return HandoffClientError(.refused, failure.message, failure.data)
    default: return HandoffClientError(.failed, failure.message, failure.data)
    }
  }
}
