import HandoffCore
import HandoffLog
package import HandoffProtocol
import LinuxSystem
package import Paths
import Synchronization

/// The `exec` transport: a process for each handoff, in any language.
package struct ExecReceiver: Sendable {
  private let launch: ReceiverLaunch
  private let grace: Duration
  private static let outputLimit = 1_048_576

  /// The grace is the time from SIGTERM to SIGKILL.
  package init(launch: ReceiverLaunch, grace: Duration = .seconds(5)) {
    self.launch = launch
    self.grace = grace
  }

  /// How the receiver is contained, for people.
  package var containment: String { launch.containment }

  /// Why the receiver cannot be started now, as far as its command tells; nil where it can.
  package var fault: ResultError? { launch.fault }

  /// Whether an error of ``deliver(_:assets:)`` is that its task was cancelled, and no word of the
  /// receiver.
  package func wasEnded(_ error: ResultError) -> Bool {
    error.code == ExecOutcome.ended.code && error.message == ExecOutcome.ended.message
  }

  /// Runs the receiver on one request and says how it ended; never throws, for every end is a result.
  ///
  /// The assets are the granted paths in the order of the request's identifiers. Cancelling the task
  /// ends the receiver: `interrupted`, effect unknown.
  package func deliver(_ request: HandoffRequest, assets: [BytePath]) async -> HandoffResult {
    do {
      return try await run(request, assets).result(for: request)
    } catch let error as ResultError {
      return Self.result(of: request, error)
    } catch {
      // Nothing has been run when a pipe or the document could not be made.
      let failure = ResultError(
        .destinationUnavailable,
        "\(error)",
        effect: .none,
        retry: .later
      )
      return Self.result(of: request, failure)
    }
  }

  private static func result(of request: HandoffRequest, _ error: ResultError) -> HandoffResult {
    HandoffResult(
      state: request.state,
      outcome: .failure(error),
      version: request.protocolVersion
    )
  }

  private func run(_ request: HandoffRequest, _ assets: [BytePath]) async throws -> ExecOutcome {
    let document = try WireCoder.encode(request) + [UInt8(ascii: "\n")]
    guard document.count <= HandoffRequest.maximumSize else {
      throw ResultError(.malformedRequest, "the request is too large", effect: .none)
    }
    if Task.isCancelled {
      throw ResultError(.interrupted, "the broker is stopping", effect: .none, retry: .later)
    }
    let redaction = TokenRedaction()
    redaction.add(request.state)
    let output = OutputLog(redaction: redaction)
    let (outReading, outWriting) = try FileDescriptor.pipe()
    let (errorReading, errorWriting) = try FileDescriptor.pipe()
    // The request fits into the pipe, so it is written before anybody reads, and whether it was read
    // can be seen afterwards. The broker holds the reading end too: no SIGPIPE, ever.
    let (inReading, inWriting) = try FileDescriptor.pipe()
    try inWriting.write(document)
    try inWriting.close()
    let process = try await launch.start(
      descriptors: [0: inReading, 1: outWriting, 2: errorWriting],
      environment: Self.environment(assets)
    )
    let watch = ExecWatch(process, settings: launch.settings, grace: grace)
    do {
      try outWriting.close()
      try errorWriting.close()
      try output.attach(outReading) { watch.collect($0, limit: Self.outputLimit) }
      try output.attach(errorReading) { _ in watch.touch() }
    } catch {
      // It runs by now, so whatever this is, its effect is not known.
      watch.interrupt(.cancelled)
    }
    let end = await follow(process, watch, output)
    return ExecOutcome(
      denial: launch.denial(in: output.tail),
      end: end,
      interruption: watch.interruption,
      standardOutput: watch.collected,
      lastLine: output.lastLine,
      leftRequestUnread: Self.unreadCount(inReading) == document.count
    )
  }

  private static func unreadCount(_ pipe: FileDescriptor) -> Int? {
    do {
      return try pipe.unreadCount()
    } catch {
      // Only a remark in a message hangs on it.
      return nil
    }
  }

  private func follow(
    _ process: ReceiverProcess,
    _ watch: ExecWatch,
    _ output: OutputLog
  ) async -> ReceiverProcess.End {
    await withTaskCancellationHandler {
      await withTaskGroup(of: ReceiverProcess.End?.self) { group in
        group.addTask {
          await output.follow(launch.host.logger, launch.settings.name)
          return nil
        }
        let end = await process.exit()
        watch.stop()
        // What was printed before the end is in the pipes; others may hold them for ever.
        output.finish()
        await output.ended()
        await group.waitForAll()
        return end
      }
    } onCancel: {
      watch.interrupt(.cancelled)
    }
  }

  private static func environment(_ assets: [BytePath]) -> [BytePath] {
    [BytePath("HANDOFF_ASSETS=\(assets.count)")]
      + assets.enumerated().map { index, path in
        BytePath(Array("HANDOFF_ASSET_\(index + 1)=".utf8) + path.bytes)
      }
  }
}

/// Collects standard output, and ends a receiver that is silent, slow or floods.
private final class ExecWatch: Sendable {
  private struct State {
    var interruption: ExecOutcome.Interruption?
    var output: [UInt8] = []
    var lastSign = ContinuousClock.now
    var timers: [EventLoop.Registration] = []
    var hasStopped = false
  }

  private let process: ReceiverProcess
  private let settings: DestinationSettings
  private let grace: Duration
  private let state = Mutex(State())

  init(_ process: ReceiverProcess, settings: DestinationSettings, grace: Duration) {
    self.process = process
    self.settings = settings
    self.grace = grace
    let ceiling = EventLoop.process.after(settings.ceiling) { [weak self] in
      self?.interrupt(.ceiling(settings.ceiling))
    }
    state.withLock { $0.timers.append(ceiling) }
    awaitSilence(settings.idle)
  }

  var interruption: ExecOutcome.Interruption? { state.withLock { $0.interruption } }
  var collected: [UInt8] { state.withLock { $0.output } }

  func touch() {
    state.withLock { $0.lastSign = .now }
  }

  func collect(_ bytes: [UInt8], limit: Int) {
    touch()
    let isTooMuch = state.withLock { state in
      state.output += bytes.prefix(max(limit + 1 - state.output.count, 0))
      return state.output.count > limit
    }
    if isTooMuch { interrupt(.tooMuchOutput(limit)) }
  }

  /// Ends the receiver; the first reason counts.
  func interrupt(_ reason: ExecOutcome.Interruption) {
    let isFirst = state.withLock { state in
      guard state.interruption == nil, !state.hasStopped else { return false }
      state.interruption = reason
      return true
    }
    if isFirst { process.terminate(grace: grace) }
  }

  /// The receiver has ended: nothing is watched any more.
  func stop() {
    let timers = state.withLock { state in
      state.hasStopped = true
      defer { state.timers = [] }
      return state.timers
    }
    for timer in timers { timer.cancel() }
  }

  private func awaitSilence(_ rest: Duration) {
    let timer = EventLoop.process.after(rest) { [weak self] in self?.look() }
    state.withLock { state in
      // The ceiling's timer stays first; the one before this has fired.
      state.timers = state.timers.prefix(1) + [timer]
    }
  }

  private func look() {
    let (silence, hasStopped) = state.withLock { state in
      (state.lastSign.duration(to: .now), state.hasStopped)
    }
    if hasStopped { return }
    if silence >= settings.idle { return interrupt(.idle(settings.idle)) }
    awaitSilence(settings.idle - silence)
  }
}
