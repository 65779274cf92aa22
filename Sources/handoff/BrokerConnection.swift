import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import LinuxSystem

/// A command's connection to the running broker.
enum BrokerConnection {
  /// Asks one question.
  ///
  /// - Throws: ``CommandFailure`` with exit code 75 when no broker runs on this configuration's state
  ///   folder, and with the code that belongs to the broker's own refusal.
  static func ask<Answer: Decodable & Sendable>(
    _ configuration: Configuration,
    _ method: ControlMethod,
    _ parameters: some Encodable,
    as type: Answer.Type
  ) async throws -> Answer {
    let state = StateFolder(configuration.broker.state)
    do {
      return try await ControlClient.ask(state.socket, method, parameters, as: type)
    } catch let error as ControlError {
      throw failure(error)
    }
  }

  /// How the destinations of the running broker are, for commands that read the ledger themselves.
  ///
  /// - Returns: nil where no broker runs, or none that answers soon: what only it knows is left out then.
  static func standings(_ configuration: Configuration) async -> [String: DestinationStanding]? {
    let state = StateFolder(configuration.broker.state)
    return await withTaskGroup(of: [String: DestinationStanding]?.self) { group in
      group.addTask {
        do {
          return try await ControlClient.ask(
            state.socket,
            .standings,
            [String: String](),
            as: [String: DestinationStanding].self
          )
        } catch {
          // The ledger is read all the same.
          return nil
        }
      }
      group.addTask {
        do { try await Task.sleep(for: patience) } catch { return nil }
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  private static let patience: Duration = .seconds(2)

  /// The broker's refusal, or what is refused in its place, as the command's end.
  static func failure(_ error: ControlError) -> CommandFailure {
    CommandFailure(exitCode(error), "handoff: \(error.message)")
  }

  private static func exitCode(_ error: ControlError) -> ExitCode {
    switch error.code {
    case .unavailable: .unavailable
    case .notFound: .notFound
    case .refused: .refused
    case .failed: .failed
    case .expired: .expired
    }
  }
}
