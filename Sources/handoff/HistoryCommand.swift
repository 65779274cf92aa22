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
        ["TIME", "EVENT", "HANDOFF", "DESTINATION", "STATUS", "DETAIL"],
        events.map { event in
          [
            event.at.rfc3339, event.event, event.handoffID ?? "", event.destination?.text ?? "",
            event.to ?? "", BytePath(event.detail ?? "").displayText,
          ]
        }
      )
    }
    return .done
  }
}
