import Glibc
import HandoffProtocol
import HandoffWire
import LinuxSystem
package import Paths

/// Asks a running broker over its control socket.
package enum ControlClient {
  /// Asks one question on a connection of its own.
  ///
  /// - Throws: ``ControlError``.
  package static func ask<Answer: Decodable & Sendable>(
    _ socket: BytePath,
    _ method: ControlMethod,
    _ parameters: some Encodable,
    as type: Answer.Type
  ) async throws -> Answer {
    let question = try WireCoder.value(parameters)
    let value = try await call(connect(socket), method, question)
    return try WireCoder.document(type, from: value)
  }

  private static func connect(_ socket: BytePath) throws -> FileDescriptor {
    do {
      return try UnixSocket.connect(socket)
    } catch  where [ENOENT, ECONNREFUSED].contains(error.errno) {
      throw ControlError(
        .unavailable,
        "the broker is not running (\(socket.displayText)); `handoff serve` starts it"
      )
    } catch {
      throw ControlError(.unavailable, "the broker cannot be reached: \(error)")
    }
  }

  private static func call(
    _ connection: FileDescriptor,
    _ method: ControlMethod,
    _ question: JSONValue
  ) async throws -> JSONValue {
    let peer = RPCPeer(socket: connection, limit: ControlServer.maximumAnswer) {
      method,
      _ throws(RPCMessage.Failure) in
      throw .unsupported(method)
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await peer.run() }
      defer { peer.close() }
      do {
        return try await peer.call(method.rawValue, question)
      } catch let failure as RPCMessage.Failure {
        let code = ControlError.Code(rawValue: failure.code) ?? .failed
        throw ControlError(code, failure.message, failure.data)
      } catch is PeerError {
        throw ControlError(.unavailable, "the broker ended before it answered")
      }
    }
  }
}
