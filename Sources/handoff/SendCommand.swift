import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// Makes one handoff of all assets, or one for each.
  static let send = Command(
    "send",
    "ID|FILE...",
    "hand assets off to a destination",
    options: [
      Option("to", "DESTINATION", "where to; may be given several times"),
      Option("each", nil, "one handoff for each asset, instead of one of all"),
      Option("title", "T", "a title for people"),
      Option("sync-publish", nil, "tick the box: publish too"),
      Option("callback", "ID", "a configured callback id"),
      Option(
        "publish-at",
        "T",
        "hold it until a time (RFC 3339; without an offset in this host's zone)"
      ),
      Option("expires-in", "D", "give up after a duration (90s, 15m, 2h, 7d)"),
      Option("key", "K", "idempotency key: the same key and body make the same handoff"),
      Option("again", nil, "also where it has succeeded before"),
      Option("dry-run", nil, "make the sender's and the receiver's checks and submit nothing"),
      Option("wait", nil, "wait for the end; the exit code tells it"),
    ],
    examples: [
      "handoff send cut.mp4 --to archive --wait", "handoff send ID --to social --title 'Day 1'",
    ]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    let given = arguments.texts("to")
    // What another one waits for is made first.
    let names = given.compactMap { DestinationName($0) }
    let destinations =
      names.count == given.count
      ? HandingOrder(configuration.destinations).sorted(names).map(\.text) : given
    guard !arguments.operands.isEmpty, !destinations.isEmpty else {
      throw CommandFailure(.usage, "handoff send: which assets, and --to which destination?")
    }
    try check(destinations, arguments, configuration)
    var identifiers: [LocalIdentifier] = []
    for operand in arguments.operands {
      if let identifier = LocalIdentifier(operand.lossyText) {
        identifiers.append(identifier)
      } else {
        identifiers.append(try await importFile(operand, arguments, configuration).localIdentifier)
      }
    }
    let groups = arguments.has("each") ? identifiers.map { [$0] } : [identifiers]
    let isBulk = groups.count > mostAtOnce
    var documents = try destinations.flatMap { destination in
      try groups.map { try sendParameters($0, destination, isBulk: isBulk, arguments) }
    }
    if arguments.has("dry-run") {
      // Nothing is made, so each has to be told of the others.
      for index in documents.indices { documents[index].planned = names }
    }
    if arguments.has("dry-run") { return try await dryRun(documents, arguments, configuration) }
    var sent: [HandoffReport] = []
    for document in documents {
      sent.append(
        try await BrokerConnection.ask(configuration, .send, document, as: HandoffReport.self)
      )
    }
    if arguments.has("wait") {
      for index in sent.indices {
        sent[index] = try await BrokerConnection.ask(
          configuration,
          .wait,
          WaitParameters(handoffID: sent[index].id),
          as: HandoffReport.self
        )
      }
    }
    if arguments.has("json") {
      try Terminal.json(sent)
    } else {
      for handoff in sent {
        let moment = handoff.publishAtLocal.map { ", not before \($0)" } ?? ""
        let line = "\(handoff.id) \(handoff.destination) \(handoff.status.rawValue)"
        let end = HandoffText.end(of: handoff).map { ": \($0)" } ?? ""
        Terminal.out(line + moment + BytePath(end).displayText)
      }
    }
    return arguments.has("wait")
      ? sent.map(exitCode).max { $0.rawValue < $1.rawValue } ?? .done : .done
  }

  /// More handoffs than these at once are back-fill: new exports go before them.
  private static let mostAtOnce = 10

  /// What can be known to be wrong before anything is imported or sent.
  private static func check(
    _ destinations: [String],
    _ arguments: ParsedArguments,
    _ configuration: Configuration
  ) throws {
    // With a key the broker looks first whether the handoff was made already.
    for destination in destinations where !arguments.has("key") {
      guard DestinationName(destination).flatMap(configuration.destination) == nil else { continue }
      let names = configuration.destinations.map(\.name.text).joined(separator: ", ")
      throw CommandFailure(
        .refused,
        "handoff send: destination_unknown: \(destination) is not configured; there are: \(names)"
      )
    }
    let makesSeveral =
      destinations.count > 1 || (arguments.has("each") && arguments.operands.count > 1)
    if arguments.has("key"), makesSeveral {
      throw CommandFailure(.usage, "handoff send: one --key is for one handoff")
    }
    if arguments.has("dry-run") {
      for operand in arguments.operands where LocalIdentifier(operand.lossyText) == nil {
        let file = operand.displayText
        throw CommandFailure(.usage, "handoff send: --dry-run imports nothing: \(file) is no asset")
      }
    }
  }

  private static func sendParameters(
    _ identifiers: [LocalIdentifier],
    _ destination: String,
    isBulk: Bool,
    _ arguments: ParsedArguments
  ) throws -> SendParameters {
    guard let name = DestinationName(destination) else {
      throw CommandFailure(.refused, "handoff send: destination_unknown: \(destination)")
    }
    var request = SendRequest(
      identifiers,
      to: name,
      title: arguments.text("title"),
      syncPublish: arguments.has("sync-publish"),
      key: arguments.text("key")
    )
    if let text = arguments.text("callback") {
      guard let callback = CallbackID(text) else {
        let reason = "callback_unknown: \(BytePath(text).displayText) is not configured"
        throw CommandFailure(.refused, "handoff send: \(reason)")
      }
      request.callbackID = callback
    }
    if let text = arguments.text("publish-at") {
      guard let moment = PublishMoment(text) else {
        throw CommandFailure(
          .usage,
          "--publish-at \(text): not a time as 2026-12-24T18:30:00 or 2026-12-24T18:30:00+01:00"
        )
      }
      request.publishAt = moment.inHostZone
    }
    if let text = arguments.text("expires-in") {
      guard let duration = Quantities.duration(text) else {
        throw CommandFailure(.usage, "--expires-in \(text): not a duration like 90s, 15m or 2h")
      }
      request.expiresInMilliseconds = duration.wholeMilliseconds
    }
    return SendParameters(request, again: arguments.has("again"), isBulk: isBulk)
  }

  private static func exitCode(_ handoff: HandoffReport) -> ExitCode {
    switch handoff.status {
    case .pending where handoff.waiting?.reason == .approval: .personNeeded
    case .succeeded, .pending, .leased, .submitted, .accepted: .done
    case .outcomeUnknown, .needsUser: .personNeeded
    case .cancelled: .cancelled
    case .refused: .refused
    case .failed: .failed
    case .expired: .expired
    }
  }
}
