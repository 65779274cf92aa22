import HandoffControl
import HandoffService
import Paths

extension Command {
  /// Has nothing new submitted to a destination.
  static let pause = Command(
    "pause",
    "DESTINATION",
    "submit nothing new to a destination until `resume`, also over restarts",
    examples: ["handoff pause social"]
  ) { arguments in
    guard let destination = arguments.operands.first else {
      throw CommandFailure(.usage, "handoff pause: which destination?")
    }
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      .pause,
      DestinationParameters(destination: destination.lossyText),
      as: PauseReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      let name = report.destination
      Terminal.out(
        (report.wasPaused ? "\(name) was paused already" : "\(name) is paused")
          + "; what was sent goes on, and `handoff resume \(name)` ends it"
      )
    }
    return .done
  }
}
