import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// Ends a handoff.
  static let cancel = decision(
    "cancel",
    .cancel,
    "end a handoff; what was not sent is not sent any more"
  )

  /// Makes another attempt of a handoff that failed or whose outcome is unknown.
  static let retry = decision(
    "retry",
    .retry,
    "try a handoff again that failed or whose outcome is unknown"
  )

  /// Takes a handoff for succeeded.
  static let adopt = decision(
    "adopt",
    .adopt,
    "take a handoff for done after looking at the destination"
  )

  private static func decision(
    _ name: String,
    _ method: ControlMethod,
    _ summary: String
  ) -> Command {
    Command(name, "ID", summary, examples: ["handoff \(name) h12"]) { arguments in
      guard let id = arguments.operands.first else {
        throw CommandFailure(.usage, "handoff \(name): which handoff?")
      }
      if Notice.ID(id.lossyText) != nil, method != .adopt {
        return try await decideNotice(arguments, method, id.lossyText)
      }
      let report = try await BrokerConnection.ask(
        ConfigurationFile.load(arguments),
        method,
        WaitParameters(handoffID: id.lossyText),
        as: HandoffReport.self
      )
      if arguments.has("json") {
        try Terminal.json(report)
      } else {
        Terminal.out("\(report.id) \(report.destination) \(report.status.rawValue)")
      }
      return .done
    }
  }

  /// A notice that was given up is tried again, or counts as seen.
  private static func decideNotice(
    _ arguments: ParsedArguments,
    _ method: ControlMethod,
    _ id: String
  ) async throws -> ExitCode {
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      method,
      WaitParameters(handoffID: id),
      as: NoticeReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      Terminal.out("\(report.id) \(report.callbackID) \(report.state.rawValue)")
    }
    return .done
  }
}
