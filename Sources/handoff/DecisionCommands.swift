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

  /// Makes another attempt of a handoff that failed, whose outcome is unknown, or that is held.
  static let retry = decision(
    "retry",
    .retry,
    "try a handoff again that failed, whose outcome is unknown, or that is held as superseded"
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
}
