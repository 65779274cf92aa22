import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import Paths

extension Command {
  /// A copy of the ledger, while the broker is down or up.
  static let backup = Command(
    "backup",
    "DIR",
    "copy the ledger into a new or empty folder, while the broker is down or up",
    options: [
      Option("dated", nil, "make a folder in DIR that is named by the moment, as for cron"),
      Option(
        "with-key",
        nil,
        "copy the key too: whoever has the backup can then make every state token"
      ),
    ],
    examples: ["handoff backup /mnt/backup/handoff --dated"]
  ) { arguments in
    let file = try ConfigurationFile.locate(arguments)
    let progress = CheckProgress(startedAt: SystemClock.now())
    let making = BackupMaking(
      try ConfigurationFile.load(at: file),
      file: file,
      target: try directory(arguments, "handoff backup: into which folder?"),
      isDated: arguments.has("dated"),
      withKey: arguments.has("with-key"),
      progress: progress
    )
    let report = try await following("backup", progress) { try await making.run() }
    try arguments.has("json") ? Terminal.json(report) : show(report)
    return .done
  }

  /// The ledger of a backup in the place of what is there.
  static let restore = Command(
    "restore",
    "DIR",
    "put a backup's ledger in the place of what is there, while the broker is down",
    examples: ["handoff restore /mnt/backup/handoff"]
  ) { arguments in
    let progress = CheckProgress(startedAt: SystemClock.now())
    let restoration = LedgerRestoration(
      try ConfigurationFile.load(arguments),
      backup: try directory(arguments, "handoff restore: which backup?"),
      progress: progress,
      logger: CareConnection.logger
    )
    let report = try await following("restore", progress) { try await restoration.run() }
    try arguments.has("json") ? Terminal.json(report) : show(report)
    return .done
  }

  private static func directory(
    _ arguments: ParsedArguments,
    _ question: String
  ) throws -> BytePath {
    guard let operand = arguments.operands.first else { throw CommandFailure(.usage, question) }
    return ConfigurationFile.absolute(operand)
  }

  /// Shows a bar while work runs, and turns what it throws into an exit code.
  private static func following<Value: Sendable>(
    _ name: String,
    _ progress: CheckProgress,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    var bar = ProgressBar(name)
    do {
      async let running = work()
      await CareConnection.follow(progress, &bar)
      let value = try await running
      bar.end()
      return value
    } catch let error as ControlError {
      bar.end()
      throw BrokerConnection.failure(error)
    }
  }

  private static func show(_ report: BackupReport) {
    let manifest = report.manifest
    Terminal.error(
      "\(manifest.assets) assets, \(manifest.handoffs) handoffs (\(manifest.openHandoffs) open), "
        + "\(manifest.events) events; \(ProgressBar.size(manifest.size)), checked"
    )
    Terminal.error(
      manifest.withKey
        ? "the key is in it: whoever has this folder can make the state token of every open handoff; keep "
          + "it as the state folder itself"
        : "without the key of the state tokens, so that no token can be made from it; it stays in the state "
          + "folder (--with-key copies it)"
    )
    if manifest.keyID == nil {
      Terminal.error("the key could not be read here, so the chain of events was not verified")
    }
    Terminal.error("the library is not in it: copy its folder after this, not before")
    Terminal.out(BytePath(report.path).displayText)
  }

  private static func show(_ report: RestoreReport) {
    Terminal.error(
      "restored from \(BytePath(report.backup).displayText), made at \(report.madeAt.rfc3339)"
    )
    if report.key == "new" {
      Terminal.error(
        "its key is lost, so there is a new one: state tokens from before are dead, and earlier events "
          + "cannot be proven any more"
      )
    }
    Terminal.error(
      "\(report.adopted) assets that only the library knew were taken up; \(report.deleted) were deleted "
        + "since the backup"
    )
    for problem in report.problems { Terminal.error("cannot be read: \(problem)") }
    if let former = report.formerLedger {
      Terminal.error("the former ledger is in \(BytePath(former).displayText)")
    }
    Terminal.table(
      ["OUTCOME UNKNOWN", "DESTINATION", "TITLE"],
      report.openHandoffs.map {
        [$0.id, $0.destination.text, BytePath($0.title ?? "").displayText]
      }
    )
    Terminal.error(
      "exports from before \(report.restoredAt.rfc3339) are not handed off by themselves until "
        + "`handoff rebuild --resume-handoffs`"
    )
  }
}
