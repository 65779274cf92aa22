import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// Removes what is nobody's.
  static let collect = Command(
    "gc",
    "",
    "remove what is nobody's: stale staging files, unknown objects, ended grants",
    options: [
      Option("dry-run", nil, "only say what would go"),
      Option("older-than", "D", "only what has not changed for so long (default 24h)"),
      Option("set-aside", "D", "also damaged objects that were set aside longer ago"),
    ],
    examples: ["handoff gc --dry-run", "handoff gc --set-aside 90d"]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    let parameters = ClearingParameters(
      dryRun: arguments.has("dry-run"),
      olderThan: try duration(arguments, "older-than") ?? .seconds(86_400),
      setAsideOlderThan: try duration(arguments, "set-aside")
    )
    let report: ClearingReport
    switch try await CareConnection.open(configuration) {
    case .broker:
      report = try await BrokerConnection.ask(
        configuration,
        .gc,
        parameters,
        as: ClearingReport.self
      )
    case .here(let care):
      report = try await CareConnection.here(care) { try await care.clear(parameters) }
    }
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      Terminal.table(
        ["KIND", "BYTES", "PATH"],
        report.removed.map { [$0.kind, String($0.size), BytePath($0.path).displayText] }
      )
      let verb = report.dryRun ? "would go" : "removed"
      Terminal.error("\(report.removed.count) \(verb), \(ProgressBar.size(report.bytes))")
    }
    return .done
  }

  /// Makes the ledger's asset tables again.
  static let rebuild = Command(
    "rebuild",
    "",
    "make a lost ledger's assets again from the library, while the broker is down",
    options: [
      Option("verify", nil, "read every object again"),
      Option("force", nil, "replace a ledger that is sound, and forget its handoffs"),
      Option("resume-handoffs", nil, "make the handoffs that are held since a rebuild or restore"),
    ]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    if arguments.has("resume-handoffs") { return try await resumeHandoffs(configuration) }
    var bar = ProgressBar("rebuild")
    let progress = CheckProgress(startedAt: SystemClock.now())
    let rebuild = LibraryRebuild(
      configuration,
      progress: progress,
      isVerifying: arguments.has("verify"),
      isForced: arguments.has("force"),
      logger: CareConnection.logger
    )
    let report: RebuildReport
    do {
      async let running = rebuild.run()
      await CareConnection.follow(progress, &bar)
      report = try await running
      bar.end()
    } catch let error as ControlError {
      bar.end()
      throw BrokerConnection.failure(error)
    }
    try arguments.has("json") ? Terminal.json(report) : show(report)
    return .done
  }

  private static func show(_ report: RebuildReport) {
    Terminal.error(
      "\(report.assets) assets from the library: \(report.deleted) deleted, "
        + "\(report.missing) without object, \(report.damaged) damaged; "
        + "\(report.orphans) objects without a record"
    )
    for problem in report.problems { Terminal.error("cannot be read: \(problem)") }
    if let former = report.formerLedger {
      Terminal.error("the former ledger is in \(BytePath(former).displayText)")
    }
    Terminal.table(
      ["WAS OPEN", "DESTINATION", "STATUS", "TITLE"],
      report.openHandoffs.map {
        [$0.id, $0.destination.text, $0.status.rawValue, BytePath($0.title ?? "").displayText]
      }
    )
    Terminal.error(
      "handoffs of other exports from before \(report.rebuiltAt.rfc3339) are held until "
        + "`handoff rebuild --resume-handoffs`"
    )
  }

  private static func resumeHandoffs(_ configuration: Configuration) async throws -> ExitCode {
    switch try await CareConnection.open(configuration) {
    case .broker:
      _ = try await BrokerConnection.ask(
        configuration,
        .resumeHandoffs,
        [String: String](),
        as: LibraryReport.self
      )
    case .here(let care):
      try await CareConnection.here(care) { try await care.resumeHandoffs() }
    }
    Terminal.error("the handoffs that were held since the ledger was rebuilt or restored are made")
    return .done
  }

  private static func duration(
    _ arguments: ParsedArguments,
    _ option: String
  ) throws -> Duration? {
    guard let text = arguments.text(option) else { return nil }
    guard let duration = Quantities.duration(text) else {
      throw CommandFailure(.usage, "--\(option) \(text): not a time, as 24h or 30d")
    }
    return duration
  }
}
