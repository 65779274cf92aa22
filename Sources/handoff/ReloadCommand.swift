import HandoffControl
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// The same as SIGHUP, and tells how it went.
  static let reload = Command(
    "reload",
    "",
    "apply the changed configuration to the running broker, as a whole or not at all",
    examples: ["handoff plan && handoff reload"]
  ) { arguments in
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments, quietly: true),
      .reload,
      JSONValue.object([:]),
      as: ReloadReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      for change in report.changes { Terminal.out(BytePath(change.line).displayText) }
      for problem in report.problems { Terminal.error(problem) }
      switch report.outcome {
      case .applied where report.changes.isEmpty: Terminal.out("nothing changes")
      case .applied: break
      case .refused:
        Terminal.error("the configuration was not reloaded: what was in force stays")
      }
    }
    return report.outcome == .applied ? .done : .usage
  }
}
