import Glibc
import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffService
import LinuxSystem
import Paths

extension Command {
  /// The broker in the foreground.
  static let serve = Command(
    "serve",
    "",
    "the broker in the foreground, until SIGTERM or Ctrl-C",
    options: [Option("verbose", nil, "log for developers too")]
  ) { arguments in
    // Before the file is read: a SIGHUP from here on asks to read it again.
    let signals = try SignalSequence()
    keepFreedMemory()
    let file = try ConfigurationFile.locate(arguments)
    let configuration = try ConfigurationFile.load(at: file)
    let merger = RepeatMerger()
    let start = ContinuousClock.now
    let logger = Logger(
      threshold: arguments.has("verbose") ? .debug : .info,
      merging: merger,
      elapsed: { start.duration(to: .now) },
      sink: write
    )
    defer { for record in merger.rest() { write(record) } }
    async let _: Void = writeCounts(of: merger, since: start)
    let broker = try await Broker.open(
      configuration,
      programs: Programs.besideThisOne(),
      environment: ProcessEnvironment.values,
      logger: logger
    )
    let warnings = try ConfigurationReport.warnings(
      configuration,
      Programs.besideThisOne(),
      ProcessEnvironment.values
    )
    for warning in warnings { Terminal.error("warning: \(warning)") }
    for folder in configuration.dropFolders {
      Terminal.error("drop finished videos into \(folder.path.displayText)")
    }
    Terminal.error(
      "look with `handoff status --config \(file.displayText)`: there is no dashboard yet"
    )
    try await broker.run(stopping: signals) {
      Terminal.out("ready")
    }
    return .done
  }

  /// Writes what was counted of repeats where nothing else is logged, until it is cancelled.
  private static func writeCounts(
    of merger: RepeatMerger,
    since start: ContinuousClock.Instant
  ) async {
    while true {
      do {
        try await Task.sleep(for: .seconds(10))
      } catch {
        return
      }
      for record in merger.due(at: start.duration(to: .now)) { write(record) }
    }
  }

  @Sendable
  private static func write(_ record: LogRecord) {
    Terminal.error(LineFormat.line(record, time: SystemClock.now().rfc3339))
  }
}
