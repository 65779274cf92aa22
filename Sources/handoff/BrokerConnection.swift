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
