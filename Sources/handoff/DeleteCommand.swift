import HandoffControl
import HandoffProtocol
import Paths

extension Command {
  /// Deletes an asset; a tombstone stays.
  static let delete = Command(
    "delete",
    "ID",
    "delete an asset; leaves a tombstone",
    options: [
      Option(
        "force",
        nil,
        "also where it has open handoffs; what was not sent ends as asset_deleted"
      )
    ],
    examples: ["handoff delete 69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"]
  ) { arguments in
    guard let operand = arguments.operands.first else {
      throw CommandFailure(.usage, "handoff delete: which asset?")
    }
    guard let identifier = LocalIdentifier(operand.lossyText) else {
      let text = operand.displayText
      throw CommandFailure(.notFound, "handoff delete: \(text) is no local identifier")
    }
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      .delete,
      DeleteParameters(localIdentifier: identifier, force: arguments.has("force")),
      as: DeletionReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
      return .done
    }
    Terminal.out("\(identifier) \(report.wasDeleted ? "had been deleted before" : "is deleted")")
    if !report.ended.isEmpty {
      Terminal.out("ended as asset_deleted: \(report.ended.joined(separator: ", "))")
    }
    if !report.open.isEmpty {
      Terminal.out("still open, without the asset: \(report.open.joined(separator: ", "))")
    }
    if !report.areBytesGone {
      Terminal.error("its bytes could not be removed yet; the broker tries again")
    }
    return .done
  }
}
