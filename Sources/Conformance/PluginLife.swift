import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// One process of the plugin, with the broker's end on its socket.
struct PluginLife: Sendable {
  let process: SpawnedProcess
  let link: BrokerLink
  let desk: BrokerDesk
  let output: PluginOutput
  let transcript: Transcript
  let limits: Conformance.Limits
  let watch: LifeWatch

  private static let socketNumber: CInt = 3

  /// Starts the plugin as a broker does: a clean environment, nothing on standard input, and its
  /// socket.
  static func start(
    _ plugin: Conformance,
    in folder: TrialFolder,
    transcript: Transcript,
    desk: BrokerDesk,
    ledger: CheckLedger
  ) async throws -> PluginLife {
    let (ours, theirs) = try UnixSocket.pair()
    let (outReading, outWriting) = try FileDescriptor.pipe()
    let (errorReading, errorWriting) = try FileDescriptor.pipe()
    var command = ProcessCommand(plugin.executable)
    command.environment = environment(plugin, folder)
    command.descriptors = [1: outWriting, 2: errorWriting, socketNumber: theirs]
    command.workingDirectory = folder.work
    let process = try await SpawnedProcess.spawn(command)
    for end in [theirs, outWriting, errorWriting] { try end.close() }
    let output = PluginOutput()
    try output.attach(outReading)
    try output.attach(errorReading)
    return PluginLife(
      process: process,
      link: BrokerLink(ours, transcript: transcript),
      desk: desk,
      output: output,
      transcript: transcript,
      limits: plugin.limits,
      watch: LifeWatch(ledger, transcript)
    )
  }

  private static func environment(_ plugin: Conformance, _ folder: TrialFolder) -> [BytePath] {
    func variable(_ name: String, _ value: BytePath) -> BytePath {
      BytePath(Array("\(name)=".utf8) + value.bytes)
    }
    return [
      "HANDOFF_FD=\(socketNumber)", "HANDOFF_DESTINATION=trial", "LANG=C.UTF-8",
      "\(Strays.mark)=\(plugin.mark)", "PATH=\(plugin.searchPath)",
    ].map { BytePath($0) } + [
      variable("HANDOFF_WORK", folder.work), variable("HOME", folder.work),
      variable("TMPDIR", folder.scratch),
    ] + plugin.variables.map { variable($0.key, BytePath($0.value)) }
  }

  /// Serves the plugin while a script runs, then hangs up, waits for its end, and ends it if it must.
  func serve<Value: Sendable>(
    _ script: @Sendable (PluginLife) async throws -> Value
  ) async -> Result<Value, any Error> {
    async let conversation: Void = link.run(take)
    let outcome: Result<Value, any Error>
    do {
      outcome = .success(try await script(self))
    } catch {
      outcome = .failure(error)
    }
    link.close()
    if await exit(within: limits.end) == nil { process.signalGroup(SIGKILL) }
    _ = await process.exit()
    await conversation
    await output.finish()
    return outcome
  }

  /// Answers a message of the plugin; true for one that no script asks for.
  private func take(_ incoming: Incoming) -> Bool {
    watch.saw(incoming)
    guard case .message(let method, let parameters, let id) = incoming else { return false }
    if let answer = desk.answer(method, parameters, id) { link.answer(id, answer) }
    return ![MessageMethod.result, .resolveAsset].map(\.rawValue).contains(method)
  }

  // MARK: Its end

  /// How it ended, if it does in time.
  func exit(within time: Duration) async -> LinuxSystem.ExitStatus? {
    if let status = process.exitStatus { return status }
    let wait = ExitWait()
    return await wait.value(process, within: time)
  }

  /// How the process has ended and what it said last, for a finding; nil if it runs.
  func ending() async -> String? {
    // Where the connection is gone, the end of the process is near.
    let patience = link.hasEnded ? Duration.seconds(1) : limits.silence
    guard let status = await exit(within: patience) else { return nil }
    await output.finish()
    let words = output.lastLine.map { "; it said: \(transcript.redacted($0))" } ?? ""
    return "it has ended with \(status)\(words)"
  }
}

/// A wait for the end of a process with a limit; the process is waited for in any case, later.
private final class ExitWait: Sendable {
  private let continuation = Mutex<CheckedContinuation<LinuxSystem.ExitStatus?, Never>?>(nil)

  func value(
    _ process: SpawnedProcess,
    within time: Duration
  ) async -> LinuxSystem.ExitStatus? {
    let waiting = Task { self.end(await process.exit()) }
    let status = await withCheckedContinuation { continuation in
      self.continuation.withLock { $0 = continuation }
      // Only now is there something to end.
      _ = EventLoop.process.after(time) { self.end(nil) }
      if let status = process.exitStatus { end(status) }
    }
    // Whoever lets the time pass ends the process next, and with it this task.
    if status != nil { await waiting.value }
    return status
  }

  private func end(_ status: LinuxSystem.ExitStatus?) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: status)
  }
}
