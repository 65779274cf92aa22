import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// What happened to an asset or handoff, straight from the ledger.
  static let history = Command(
    "history",
    "ID",
    "what happened to an asset or handoff, in order",
    examples: ["handoff history h12"]
  ) { arguments in
    guard let id = arguments.operands.first?.lossyText else {
      throw CommandFailure(.usage, "handoff history: of which asset or handoff?")
    }
    let queries = try await LedgerQueries.open(ConfigurationFile.load(arguments))
    var events: [EventReport] = []
    if let handoffID = Handoff.ID(id) {
      events = try await queries.history(of: handoffID)
    } else if let identifier = LocalIdentifier(id) {
      events = try await queries.history(of: identifier)
    }
    guard !events.isEmpty else {
      throw CommandFailure(.notFound, "handoff history: there is no asset or handoff \(id)")
    }
    if arguments.has("json") {
      try Terminal.json(events)
    } else {
      Terminal.table(
        ["TIME", "AFTER", "EVENT", "HANDOFF", "DESTINATION", "STATUS", "DETAIL"],
        zip(events, [events[0]] + events).map { event, before in
          [
            event.at.rfc3339, after(before.at, event.at), event.event, event.handoffID ?? "",
            event.destination?.text ?? "",
            event.to ?? "", BytePath(event.detail ?? "").displayText,
          ]
        }
      )
    }
    return .done
  }

  /// How long after the event before: with the unit that tells most.
  private static func after(_ before: Timestamp, _ at: Timestamp) -> String {
    let milliseconds = at.milliseconds - before.milliseconds
    switch milliseconds {
    case 0: return ""
    case ..<0: return "(clock set)"
    case 1..<1_000: return "+\(milliseconds) ms"
    case 1_000..<100_000: return "+\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s"
    default: return "+" + ProgressBar.time(Double(milliseconds) / 1_000)
    }
  }
}
