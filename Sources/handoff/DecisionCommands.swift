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

  /// Makes another attempt of a handoff that failed, whose outcome is unknown or that is held, or judges a
  /// file again.
  static let retry = Command(
    "retry",
    "ID|PATH",
    "try a handoff again that failed, is unknown or is held as superseded; judge a file again",
    examples: ["handoff retry h12", "handoff retry exports/cut.mp4"]
  ) { arguments in
    guard let operand = arguments.operands.first else {
      throw CommandFailure(.usage, "handoff retry: which handoff or file?")
    }
    let text = operand.lossyText
    if Handoff.ID(text) != nil || Notice.ID(text) != nil {
      return try await decide(operand, .retry, arguments)
    }
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      .retryFile,
      WhyParameters(path: ConfigurationFile.absolute(operand)),
      as: WhyReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
      return .done
    }
    let path = BytePath(report.path).displayText
    Terminal.out("\(path) is looked at again now; `handoff why \(path)` shows what is found")
    if let identifier = report.localIdentifier {
      Terminal.out("what was last imported from there is the asset \(identifier)")
    }
    return .done
  }

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
      return try await decide(id, method, arguments)
    }
  }

  private static func decide(
    _ id: BytePath,
    _ method: ControlMethod,
    _ arguments: ParsedArguments
  ) async throws -> ExitCode {
    if Notice.ID(id.lossyText) != nil, method != .adopt {
      return try await decideNotice(id, method, arguments)
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

  /// A notice that was given up is tried again, or counts as seen.
  private static func decideNotice(
    _ id: BytePath,
    _ method: ControlMethod,
    _ arguments: ParsedArguments
  ) async throws -> ExitCode {
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      method,
      WaitParameters(handoffID: id.lossyText),
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
