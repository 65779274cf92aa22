import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// The configured destinations; has one of them look again at what it has done.
  static let destinations = Command(
    "destinations",
    "[verify DESTINATION]",
    "the destinations with their limits; verify: is what one of them did still there?",
    options: [
      Option("since", "T", "verify: only what ended at or after a time (RFC 3339)"),
      Option("limit", "N", "verify: at most so many handoffs"),
      Option("asset", "ID", "verify: only the handoffs of one asset"),
    ],
    examples: [
      "handoff destinations --json | jq '.[] | select(.status != \"up\")'",
      "handoff destinations verify archive --limit 100",
    ]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    switch arguments.operands.first?.lossyText {
    case nil: return try await list(configuration, arguments)
    case "verify"?: return try await VerifyWalk(configuration, arguments).run()
    case let word?:
      throw CommandFailure(
        .usage,
        "handoff destinations: \(BytePath(word).displayText) is not \"verify\"; see --help"
      )
    }
  }

  private static func list(
    _ configuration: Configuration,
    _ arguments: ParsedArguments
  ) async throws -> ExitCode {
    for option in ["since", "limit", "asset"] where arguments.text(option) != nil {
      throw CommandFailure(.usage, "handoff destinations: --\(option) belongs to `verify`")
    }
    let destinations = try await reports(configuration)
    if arguments.has("json") {
      try Terminal.json(destinations)
      return .done
    }
    Terminal.table(
      [
        "NAME", "TRANSPORT", "STATUS", "CONTAINED", "IN FLIGHT", "WAITING", "DONE", "24 H",
        "PLUGIN",
        "TAKES", "DETAIL",
      ],
      destinations.map(row)
    )
    return .done
  }

  /// The broker's word, else what the configuration and the ledger tell.
  private static func reports(_ configuration: Configuration) async throws -> [DestinationReport] {
    do {
      return try await ControlClient.ask(
        StateFolder(configuration.broker.state).socket,
        .destinations,
        [String: String](),
        as: [DestinationReport].self
      )
    } catch let error as ControlError where error.code == .unavailable {
      return try await LedgerQueries.open(configuration).destinationsWithoutBroker()
    } catch let error as ControlError {
      throw BrokerConnection.failure(error)
    }
  }

  private static func row(_ destination: DestinationReport) -> [String] {
    let use = destination.use == "original" ? "" : "the rendition \(destination.use)"
    let takes = [use, destination.limits.shown].filter { !$0.isEmpty }.joined(separator: "; ")
    let plugin = destination.plugin.map { BytePath("\($0.name) \($0.version)").displayText }
    return [
      destination.name.text, destination.transport,
      destination.status.split(separator: "_").joined(separator: " "),
      BytePath(destination.containment).displayText, String(destination.inFlight),
      String(destination.waiting), String(destination.succeeded),
      String(destination.succeededLately), plugin ?? "",
      BytePath(takes).displayText + (destination.areLimitsWhole ? "" : " (as configured)"),
      BytePath(destination.detail ?? "").displayText,
    ]
  }
}
