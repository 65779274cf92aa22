import HandoffControl
import HandoffService
import Paths

extension Command {
  /// Has a destination go on that was paused, or whose receiver wanted nothing any more.
  static let resume = Command(
    "resume",
    "DESTINATION",
    "have a destination go on that was paused, or stopped because its receiver answered 410 Gone",
    examples: ["handoff resume social"]
  ) { arguments in
    guard let destination = arguments.operands.first else {
      throw CommandFailure(.usage, "handoff resume: which destination?")
    }
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      .resume,
      DestinationParameters(destination: destination.lossyText),
      as: ResumeReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      let name = report.destination
      Terminal.out(report.resumed ? "\(name) goes on" : "\(name) was neither paused nor stopped")
    }
    return .done
  }
}
