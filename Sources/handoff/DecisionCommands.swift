import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// Ends a handoff, or has its receiver asked to.
  static let cancel = decision(
    "cancel",
    .cancel,
    "end a handoff; what was sent is ended by its receiver, where that can be asked"
  )

  /// Makes another attempt of a handoff that failed, whose outcome is unknown or that is held, or judges a
  /// file again.
  static let retry = Command(
    "retry",
    "ID|PATH",
    "try a handoff again that failed, is unknown or is held as superseded; judge a file again",
    options: [
      Option("failed", nil, "all failed handoffs that have certainly done nothing"),
      Option("destination", "D", "with --failed: only to this one"),
      Option("dry-run", nil, "with --failed: only say what would be tried"),
    ],
    examples: [
      "handoff retry h12", "handoff retry exports/cut.mp4",
      "handoff retry --failed --destination social",
    ]
  ) { arguments in
    if arguments.has("failed") { return try await RetryFailedCommand.run(arguments) }
    // Else `--dry-run h12` would make the attempt that it was to spare.
    for option in ["dry-run", "destination"] where arguments.has(option) {
      throw CommandFailure(.usage, "handoff retry: --\(option) goes with --failed only")
    }
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
    return method == .cancel ? tellCancel(report) : .done
  }

  /// What is known of a handoff that a person wished cancelled, in a sentence and as an exit code.
  private static func tellCancel(_ report: HandoffReport) -> ExitCode {
    switch report.status {
    case .cancelled:
      guard report.error?.effect == .unknown else { return .done }
      // Nobody could be asked: it may still happen.
      if let message = report.error?.message { Terminal.error("handoff: \(message)") }
      return .personNeeded
    case .pending, .leased, .submitted, .accepted, .needsUser:
      Terminal.error(
        "handoff: its receiver will be asked to end it; `handoff show \(report.id)` tells how it "
          + "ends, and a second cancel asks again"
      )
      return .done
    case .outcomeUnknown:
      // Where its process was ended, the wish is carried out.
      Terminal.error(
        report.cancelRequestedAt != nil
          ? "handoff: its receiver will be asked to end it; until then nobody knows its outcome"
          : "handoff: it was ended, and nobody knows what it left behind: look at the destination, "
            + "then `handoff adopt`, `retry` or `cancel` it"
      )
      return .personNeeded
    case .succeeded:
      Terminal.error("handoff: the wish came too late: it was done already")
      return .refused
    case .refused, .failed:
      Terminal.error("handoff: the wish came too late: it had failed already")
      return .failed
    case .expired:
      Terminal.error("handoff: the wish came too late: its time had passed")
      return .expired
    }
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
