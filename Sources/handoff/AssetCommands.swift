import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// Lists the library's assets, straight from the ledger.
  static let assets = Command(
    "assets",
    "",
    "the library's assets",
    examples: ["handoff assets --json | jq -r '.[].local_identifier'"]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    let assets = try await LedgerQueries.open(configuration).assets()
    if arguments.has("json") {
      try Terminal.json(assets)
    } else {
      Terminal.table(
        ["LOCAL IDENTIFIER", "SIZE", "VIDEO", "SECONDS", "STATUS", "EXPORT"],
        assets.map { asset in
          [
            asset.localIdentifier.text, String(asset.size),
            "\(asset.videoCodec) \(asset.width)x\(asset.height)", decimal(asset.durationSeconds),
            asset.status.rawValue, BytePath(asset.sources.last?.path ?? "").displayText,
          ]
        }
      )
    }
    return .done
  }

  /// Shows one asset or handoff in full.
  static let show = Command(
    "show",
    "ID",
    "one asset or handoff in full",
    examples: ["handoff show h12", "handoff show 69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"]
  ) { arguments in
    guard let id = arguments.operands.first?.lossyText else {
      throw CommandFailure(.usage, "handoff show: which asset or handoff?")
    }
    let configuration = try ConfigurationFile.load(arguments)
    let broker = Handoff.ID(id) == nil ? nil : await BrokerConnection.standings(configuration)
    let queries = try await LedgerQueries.open(configuration, broker: broker)
    if let handoffID = Handoff.ID(id), let handoff = try await queries.handoff(handoffID) {
      if arguments.has("json") {
        try Terminal.json(handoff)
      } else {
        HandoffText(handoff).lines.forEach(Terminal.out)
      }
    } else if let identifier = LocalIdentifier(id), let asset = try await queries.asset(identifier)
    {
      try arguments.has("json") ? Terminal.json(asset) : Terminal.lines(asset)
    } else {
      throw CommandFailure(.notFound, "handoff show: there is no asset or handoff \(id)")
    }
    return .done
  }

  /// Lists handoffs, newest first, straight from the ledger.
  static let handoffs = Command(
    "handoffs",
    "",
    "the ledger's handoffs, newest first",
    options: [
      Option("status", "S", "only those in a status"),
      Option("destination", "D", "only those of a destination"),
      Option("since", "T", "only those made at or after a time (RFC 3339)"),
      Option("limit", "N", "at most so many"),
    ]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    let filter = try filter(arguments)
    let broker = await BrokerConnection.standings(configuration)
    let handoffs = try await LedgerQueries.open(configuration, broker: broker).handoffs(filter)
    if arguments.has("json") {
      try Terminal.json(handoffs)
    } else {
      Terminal.table(
        ["ID", "DESTINATION", "STATUS", "TITLE", "CREATED", "DETAIL"],
        handoffs.map { handoff in
          [
            handoff.id, handoff.destination.text, handoff.status.rawValue,
            BytePath(handoff.title ?? "").displayText, handoff.createdAt.rfc3339,
            [
              handoff.waiting.map(waiting),
              handoff.error.map { BytePath("\($0.code): \($0.message)").displayText },
            ].compactMap(\.self).joined(separator: "; "),
          ]
        }
      )
    }
    return .done
  }

  private static func waiting(_ waiting: HandoffReport.Waiting) -> String {
    waiting.reason.rawValue + (waiting.until.map { " until \($0.rfc3339)" } ?? "")
  }

  private static func filter(_ arguments: ParsedArguments) throws -> HandoffFilter {
    var filter = HandoffFilter()
    if let text = arguments.text("status") {
      guard let status = HandoffStatus(rawValue: text) else {
        let known = HandoffStatus.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(.usage, "--status \(text): not one of \(known)")
      }
      filter.status = status
    }
    if let text = arguments.text("destination") {
      guard let destination = DestinationName(text) else {
        throw CommandFailure(.usage, "--destination \(text): not a destination's name")
      }
      filter.destination = destination
    }
    if let text = arguments.text("since") {
      guard let since = Timestamp(rfc3339: text) else {
        throw CommandFailure(.usage, "--since \(text): not a time as 2026-12-24T18:30:00Z")
      }
      filter.since = since
    }
    if let text = arguments.text("limit") {
      guard let limit = Int(text), limit >= 0 else {
        throw CommandFailure(.usage, "--limit \(text): not a count")
      }
      filter.limit = limit
    }
    return filter
  }

  /// Seconds with two decimals.
  private static func decimal(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}
