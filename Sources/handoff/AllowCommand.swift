import HandoffControl
import HandoffProtocol
import Paths

extension Command {
  /// Widens a limited destination by one asset.
  static let allow = Command(
    "allow",
    "ID DESTINATION",
    "widen a limited destination by one asset",
    examples: ["handoff allow 69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001 archive"]
  ) { arguments in
    let operands = arguments.operands
    guard operands.count == 2 else {
      throw CommandFailure(.usage, "handoff allow: which asset, to which destination?")
    }
    guard let identifier = LocalIdentifier(operands[0].lossyText) else {
      let text = operands[0].displayText
      throw CommandFailure(.notFound, "handoff allow: \(text) is no local identifier")
    }
    let report = try await BrokerConnection.ask(
      ConfigurationFile.load(arguments),
      .allow,
      AllowParameters(localIdentifier: identifier, destination: operands[1].lossyText),
      as: AllowReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
      return .done
    }
    Terminal.out(
      "\(report.destination) \(report.wasAllowed ? "was allowed it before" : "may have it now")"
    )
    if !report.refused.isEmpty {
      Terminal.out(
        "refused for it, and refused for good: \(report.refused.joined(separator: ", ")); "
          + "`handoff send` makes a new handoff"
      )
    }
    return .done
  }
}
