import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Runs rclone as a child: without a shell, in an environment of its own, with bounded output, and ended
/// with its whole group when the work is given up.
struct Rclone: Sendable {
  /// The package that has it, for people.
  static let package = "rclone"
  private static let outputLimit = 64 << 20
  /// Of one error, in characters.
  private static let longestError = 400
  private static let grace = Duration.seconds(3)
  private static let passedOn = [
    "RCLONE_CONFIG_PASS", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
  ]

  let program: BytePath
  let config: RemoteConfig
  private let environment: [BytePath]
  private let patience: Duration
  private let common: [BytePath]
  /// Sends rclone SIGKILL when this process dies; nil where the system has none.
  private let leash: BytePath?

  /// - Throws: `ResultError` with `not_configured` where there is no rclone.
  init(_ settings: ArchiveSettings, config: RemoteConfig, _ context: DestinationContext)
    throws(ResultError)
  {
    let searchPath = environmentValue("PATH") ?? CommandSearch.defaultPath
    if let given = settings.rclone {
      program = BytePath(given)
      guard program.isAbsolute, access(program.nulTerminated, X_OK) == 0 else {
        throw .notConfigured(
          "settings.rclone, \(program.displayText), is not a program that can be run here"
        )
      }
    } else {
      guard let found = CommandSearch.find("rclone", on: searchPath) else {
        throw .notConfigured(
          "rclone is not installed",
          remedy:
            "Install the package \(Self.package) (apt install \(Self.package)), or set settings.rclone."
        )
      }
      program = found
    }
    self.config = config
    leash = CommandSearch.find("setpriv", on: searchPath)
    patience = .seconds(settings.timeout ?? 300)
    var variables = [
      "PATH": searchPath, "LANG": "C.UTF-8", "RCLONE_ASK_PASSWORD": "false",
      // What this process has proven itself needs no second opinion, and the uploader's own word kept as
      // metadata must not look like the receiver's.
      "RCLONE_S3_DISABLE_CHECKSUM": "true",
      // rclone would make a bucket that is missing: a misspelt name must not.
      "RCLONE_S3_NO_CHECK_BUCKET": "true", "RCLONE_S3_UPLOAD_CONCURRENCY": "2",
      // Less memory for a little more work of its collector.
      "GOGC": "20",
    ]
    if config.type == "sftp", !config.has("shell_type") {
      // It would find out by commands on the server and write what it found into the configuration.
      variables["RCLONE_SFTP_SHELL_TYPE"] = "none"
    }
    for name in Self.passedOn {
      if let value = context.environmentVariable(name) { variables[name] = value }
    }
    let texts = variables.map { BytePath("\($0)=\($1)") }
    environment =
      texts + [
        BytePath(Array("HOME=".utf8) + context.work.bytes),
        BytePath(Array("RCLONE_CONFIG=".utf8) + config.path.bytes),
        BytePath(Array("RCLONE_CACHE_DIR=".utf8) + context.work.appending("remote/cache").bytes),
      ]
    common = [
      "--use-json-log", "--retries", "1", "--low-level-retries", "3", "--contimeout", "20s",
      "--timeout", "60s", "--buffer-size", "2Mi", "--transfers", "1", "--checkers", "1",
      "--stats", "1s", "--stats-log-level", "NOTICE",
    ]
  }

  /// Runs one command to its end.
  ///
  /// In place, newer releases write to the name itself, not to a `.partial` beside it. The progress is told how
  /// many bytes are moved. It throws `CancellationError`, and `ResultError` where rclone was silent for too long
  /// or said too much.
  func run(
    _ words: [BytePath],
    inPlace: Bool = false,
    _ progress: @escaping @Sendable (Int64) async -> Void = { _ in }
  ) async throws -> Ended {
    try Task.checkCancellation()
    let (moved, continuation) = AsyncStream.makeStream(
      of: Int64.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let log = RcloneLog { continuation.yield($0) }
    let output = RcloneOutput(limit: Self.outputLimit)
    let errorsEnd = RcloneOutput(limit: 0)
    async let telling: Void = {
      for await bytes in moved { await progress(bytes) }
    }()
    defer { continuation.finish() }
    let (process, outPipe, errorPipe) = try await start(words, inPlace: inPlace)
    let patience = Patience(patience) { process.signalGroup(SIGKILL) }
    defer { patience.end() }
    let outReader = try PipeReader(outPipe) { bytes in
      patience.renew()
      output.take(bytes)
    } end: {
      output.end()
    }
    let errorReader = try PipeReader(errorPipe) { bytes in
      patience.renew()
      log.take(bytes)
    } end: {
      errorsEnd.end()
    }
    let status = await withTaskCancellationHandler {
      await process.exit()
    } onCancel: {
      // A chance to withdraw what the service keeps of an unfinished upload.
      process.signalGroup(SIGTERM)
      _ = EventLoop.process.after(Self.grace) { process.signalGroup(SIGKILL) }
    }
    outReader.finish()
    errorReader.finish()
    await output.ended()
    await errorsEnd.ended()
    continuation.finish()
    await telling
    try Task.checkCancellation()
    try FaultPlan.current.pass("rclone.ended")
    return try ended(words, status, output, log, patience)
  }

  private func ended(
    _ words: [BytePath],
    _ status: ExitStatus,
    _ output: RcloneOutput,
    _ log: RcloneLog,
    _ patience: Patience
  ) throws(ResultError) -> Ended {
    if patience.hasRunOut {
      throw ResultError(
        .network,
        "rclone said nothing for \(self.patience) and was ended",
        effect: .none,
        retry: .later
      )
    }
    guard let bytes = output.whole else {
      throw ResultError(
        .receiverFailed,
        "rclone answered with more than \(Self.outputLimit) bytes",
        effect: .none,
        retry: .afterFix
      )
    }
    // Cut only then: half a secret would not be found.
    let errors = log.errors.map { String(config.redacted($0).prefix(Self.longestError)) }
    let names = words.filter { $0.bytes.contains(UInt8(ascii: "/")) }.flatMap {
      [$0.lossyText, $0.lastComponent.lossyText]
    }
    return Ended(status: status, output: bytes, errors: errors, names: names)
  }

  private func start(
    _ words: [BytePath],
    inPlace: Bool
  ) async throws -> (SpawnedProcess, FileDescriptor, FileDescriptor) {
    let (outReading, outWriting) = try FileDescriptor.pipe()
    let (errorReading, errorWriting) = try FileDescriptor.pipe()
    let line = [program] + words + common
    let whole = leash.map { [$0, "--pdeathsig", "KILL", "--"] + line } ?? line
    var command = ProcessCommand(
      whole[0],
      arguments: Array(whole.dropFirst()),
      environment: environment + (inPlace ? ["RCLONE_INPLACE=true"] : [])
    )
    command.descriptors = [1: outWriting, 2: errorWriting]
    try FaultPlan.current.pass("rclone")
    let process = try await SpawnedProcess.spawn(command)
    try outWriting.close()
    try errorWriting.close()
    try FaultPlan.current.pass("rclone.running")
    return (process, outReading, errorReading)
  }
}
