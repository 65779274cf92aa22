import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// The broker at a glance.
  static let status = Command(
    "status",
    "",
    "folders, candidates, destinations, counts, what needs a person",
    options: [Option("all", nil, "every candidate, however many; otherwise the first 1,000")]
  ) { arguments in
    let configuration = try ConfigurationFile.load(arguments)
    let report = try await statusReport(configuration, listingAll: arguments.has("all"))
    if arguments.has("json") {
      try Terminal.json(report)
      return .done
    }
    if let config = report.config { show(config) }
    Terminal.table(
      ["NEEDS A PERSON", "WHERE", "STATUS", "WHY"],
      report.needsPerson.map(row)
    )
    Terminal.table(
      ["NOTICE", "CALLBACK", "ABOUT", "TRIES", "NEXT", "LAST ERROR"],
      report.notices.filter { $0.error != nil }.map {
        [
          $0.id, $0.callbackID.text, BytePath($0.subject).displayText, String($0.attempts),
          $0.dueAt?.rfc3339 ?? "", BytePath($0.error ?? "").displayText,
        ]
      }
    )
    if let library = report.library { show(library) }
    if let detail = report.ledger?.detail {
      Terminal.out("The ledger: \(BytePath(detail).displayText).")
    }
    if let address = report.api?.address { Terminal.out("The HTTP API is at http://\(address).") }
    if let error = report.api?.error {
      Terminal.out("The HTTP API is not served: \(BytePath(error).displayText).")
    }
    Terminal.table(
      ["ORIGINAL THAT STAYS", "WHY"],
      report.originals.map {
        [BytePath($0.path).displayText, BytePath($0.reason).displayText]
      }
    )
    Terminal.table(
      ["HELD SINCE REBUILD OR RESTORE", "DESTINATION", "TITLE"],
      report.heldOrders.map {
        [BytePath($0.path).displayText, $0.destination.text, BytePath($0.title ?? "").displayText]
      }
    )
    Terminal.table(
      ["FOLDER", "MODE", "WATCHES", "CANDIDATES", "NOTE"],
      report.folders.map {
        [
          BytePath($0.path).displayText, $0.mode, String($0.watches), String($0.candidates),
          BytePath($0.note).displayText,
        ]
      }
    )
    Terminal.table(
      ["DESTINATION", "STATUS", "IN FLIGHT", "WAITING", "CONTAINMENT", "NOTE"],
      report.destinations.map {
        [
          $0.name.text, $0.status, String($0.inFlight), String($0.waiting), $0.containment,
          BytePath($0.detail ?? "").displayText,
        ]
      }
    )
    if let containment = report.containment, containment.hasPrefix("none") {
      Terminal.out(
        "Receivers run without containment on this machine (\(containment)); "
          + "`handoff doctor` tells how to mend it."
      )
    }
    Terminal.table(
      ["FILE", "STATE", "WHY"],
      report.candidates.filter { $0.state != "ignored" }.map {
        [BytePath($0.path).displayText, $0.state, BytePath($0.reason ?? "").displayText]
      }
    )
    if report.candidatesNext != nil {
      Terminal.out("There are more files: `handoff status --all` lists them.")
    }
    return .done
  }

  private static func statusReport(
    _ configuration: Configuration,
    listingAll: Bool
  ) async throws -> StatusReport {
    func ask(after path: BytePath?) async throws -> StatusReport {
      try await BrokerConnection.ask(
        configuration,
        .status,
        StatusParameters(candidatesAfter: path),
        as: StatusReport.self
      )
    }
    var report = try await ask(after: nil)
    while listingAll, let next = report.candidatesNext {
      let more = try await ask(after: next)
      report.candidates += more.candidates
      report.candidatesNext = more.candidatesNext
    }
    return report
  }

  private static func row(_ matter: NeedsPerson) -> [String] {
    switch matter {
    case .handoff(let handoff):
      [
        handoff.id, handoff.destination.text, handoff.status.rawValue,
        BytePath(reason(handoff)).displayText,
      ]
    case .notice(let notice):
      [
        notice.id, notice.callbackID.text, "notice \(notice.state.rawValue)",
        BytePath("\(notice.subject): \(notice.error ?? "")").displayText,
      ]
    case .destination(let stop):
      [
        stop.destination.text, "", "stopped",
        BytePath("\(stop.reason); `handoff resume \(stop.destination)` tries again").displayText,
      ]
    }
  }

  /// Why a handoff waits for a person.
  private static func reason(_ handoff: HandoffReport) -> String {
    if handoff.status.isFinal, handoff.lateResults > 0 {
      return "a success came after its end: `handoff adopt \(handoff.id)` takes it"
    }
    if handoff.waiting?.reason == .destinationUnknown {
      return "destination_unknown: its destination is not configured any more; configure it again, "
        + "or `handoff cancel \(handoff.id)`"
    }
    if handoff.waiting?.reason == .approval {
      return
        "it waits for approval: `handoff show \(handoff.id)` and `handoff approve \(handoff.id)`"
    }
    return handoff.userNeed ?? handoff.error?.message ?? ""
  }

  private static func show(_ config: StatusReport.Config) {
    let file = BytePath(config.file).displayText
    guard config.state == .rejected else { return }
    Terminal.out(
      "config: rejected. \(file) was not taken; that of \(config.loadedAt.rfc3339) is in force:"
    )
    // They are escaped already, as the broker tells them.
    for problem in config.problems { Terminal.out("  \(problem)") }
  }

  private static func show(_ library: LibraryReport) {
    var notes: [String] = []
    if library.damaged > 0 { notes.append("\(library.damaged) damaged: `handoff fsck` names them") }
    if library.missing > 0 { notes.append("\(library.missing) missing") }
    if let moment = library.handoffsHeldBefore {
      notes.append(
        "rebuilt or restored: older exports than \(moment.rfc3339) are not handed off by themselves"
      )
    }
    Terminal.table(
      ["LIBRARY", "STATUS", "ASSETS", "SIZE", "LAST VERIFIED", "NOTE"],
      [
        [
          BytePath(library.path).displayText, library.status, String(library.assets),
          ProgressBar.size(library.bytes), library.lastVerifiedAt?.rfc3339 ?? "never",
          notes.joined(separator: "; "),
        ]
      ]
    )
  }

  /// The evidence for one file, or what a handoff waits for.
  static let why = Command(
    "why",
    "PATH|ID",
    "the evidence for one file; what a handoff waits for",
    examples: ["handoff why exports/cut.mp4", "handoff why h12"]
  ) { arguments in
    guard let operand = arguments.operands.first else {
      throw CommandFailure(.usage, "handoff why: which file or handoff?")
    }
    let configuration = try ConfigurationFile.load(arguments)
    if let id = Handoff.ID(operand.lossyText) {
      let broker = await BrokerConnection.standings(configuration)
      let queries = try await LedgerQueries.open(configuration, broker: broker)
      guard let handoff = try await queries.handoff(id) else {
        throw CommandFailure(.notFound, "handoff why: there is no handoff \(id)")
      }
      if arguments.has("json") {
        try Terminal.json(handoff)
      } else {
        HandoffText(handoff).lines.forEach(Terminal.out)
      }
      return .done
    }
    let report = try await BrokerConnection.ask(
      configuration,
      .why,
      WhyParameters(path: ConfigurationFile.absolute(operand)),
      as: WhyReport.self
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      let suffix = report.reason.map { ": \(BytePath($0).displayText)" } ?? ""
      Terminal.out("\(BytePath(report.path).displayText) is \(report.state)\(suffix)")
      if let until = report.until { Terminal.out("it goes on by itself at \(until.rfc3339)") }
      Terminal.table(
        ["CHECK", "PASSED", "SINCE", "DETAIL"],
        report.evidence.map {
          [
            $0.check.rawValue, $0.pending == true ? "-" : $0.passed ? "yes" : "no",
            $0.since?.rfc3339 ?? "", BytePath($0.detail).displayText,
          ]
        }
      )
    }
    if !arguments.has("json"), let identifier = report.localIdentifier {
      Terminal.out("it is the asset \(identifier); `handoff show \(identifier)` tells more")
    }
    return .done
  }

  /// Imports by hand.
  static let importFiles = Command(
    "import",
    "FILE...",
    "imports by hand; prints identifiers",
    options: [
      Option("take", nil, "move the files into the library; otherwise they are kept"),
      Option("accept-incomplete", nil, "import what cannot be proven complete; recorded as such"),
    ]
  ) { arguments in
    guard !arguments.operands.isEmpty else {
      throw CommandFailure(.usage, "handoff import: which files?")
    }
    let configuration = try ConfigurationFile.load(arguments)
    var imported: [AssetReport] = []
    var worst = ExitCode.done
    for operand in arguments.operands {
      do {
        let asset = try await importFile(operand, arguments, configuration)
        if !arguments.has("json") { Terminal.out(asset.localIdentifier.text) }
        imported.append(asset)
      } catch let failure as CommandFailure {
        // The others are imported all the same; the exit code is that of the worst failure.
        Terminal.error(failure.message)
        worst = max(worst, failure.code)
      }
    }
    if arguments.has("json") { try Terminal.json(imported) }
    return worst
  }
}
