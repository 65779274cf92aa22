import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffWire
import LinuxSystem
import Paths
import Synchronization

/// A running receiver of the `plugin` transport: one process that serves many handoffs.
///
/// ``run()`` is its whole life, once. Whatever way that is left, the process and all that it started
/// has ended then.
package final class PluginProcess: Sendable {
  /// How long things may take.
  package struct Limits: Sendable, Hashable {
    /// From the start to the answer to `discover`.
    package var discovery: Duration = .seconds(10)
    /// For the answer to any other call; the destination's `idle` where that is shorter.
    package var answer: Duration = .seconds(60)
    /// From the end of the connection, and again from SIGTERM, to the next step.
    package var grace: Duration = .seconds(5)

    package init() {}
  }

  let launch: ReceiverLaunch
  let callbacks: PluginCallbacks
  let limits: Limits
  let redaction = TokenRedaction()
  /// How much of what the plugin says goes to the broker's log.
  let said = LogAllowance()
  private let introduction = OneTimeValue<Result<PluginIntroduction, ResultError>>()
  private let connection = Mutex<RPCPeer?>(nil)
  private let process = Mutex<ReceiverProcess?>(nil)
  private let printed = Mutex<OutputLog?>(nil)

  package init(launch: ReceiverLaunch, limits: Limits = Limits(), callbacks: PluginCallbacks) {
    self.launch = launch
    self.limits = limits
    self.callbacks = callbacks
  }

  var settings: DestinationSettings { launch.settings }

  /// The process's number (bubblewrap's, if it is contained) while it runs.
  package var processID: Int32? { process.withLock { $0?.id } }

  /// A failure with what containment has to do with it, as its message or what was printed tells.
  func explained(_ error: ResultError) -> ResultError {
    // Of what was printed only the end: the rest may be about something else, long ago.
    let lines = printed.withLock { $0?.tail ?? "" }.split(separator: "\n").suffix(5)
    let words = (lines.map(String.init) + [error.message]).joined(separator: "\n")
    return error.explained(by: launch.denial(in: words))
  }

  /// Waits until the plugin takes handoffs.
  ///
  /// Throws ``ResultError`` with effect none if it did not come so far, or has ended again.
  package func ready() async throws -> PluginIntroduction {
    try await introduction.get().get()
  }

  /// Starts the process, discovers it, and serves it until it ends.
  ///
  /// Throws ``ResultError`` (effect none) if it could not be started or did not agree, and
  /// `CancellationError` after its process has been ended. Otherwise `onExit` has been called.
  package func run() async throws {
    // Why it did not come so far is told before, where that is known.
    defer { introduction.set(.failure(Self.gone)) }
    do {
      let (ours, theirs) = try UnixSocket.pair()
      let output = OutputLog(redaction: redaction)
      printed.withLock { $0 = output }
      let process = try await start(theirs, output)
      let peer = RPCPeer(
        socket: ours,
        inOrder: { [self] method, params in answerInOrder(method, params) },
        handler: { [self] method, params throws(RPCMessage.Failure) in
          try await answer(method, params)
        }
      )
      connection.withLock { $0 = peer }
      self.process.withLock { $0 = process }
      let end = await serve(PluginRun(process: process, peer: peer, output: output))
      connection.withLock { $0 = nil }
      self.process.withLock { $0 = nil }
      try await conclude(end)
    } catch let error as ResultError {
      introduction.set(.failure(error))
      throw error
    } catch let error as SystemError {
      let failure = ResultError(.destinationUnavailable, "\(error)", effect: .none, retry: .later)
      introduction.set(.failure(failure))
      throw failure
    }
  }

  /// The connection, once the plugin is ready.
  func readyConnection() async throws -> (RPCPeer, PluginIntroduction) {
    let introduction = try await ready()
    guard let peer = connection.withLock({ $0 }) else { throw Self.gone }
    return (peer, introduction)
  }

  static let gone = ResultError(
    .destinationUnavailable,
    "the plugin is not running",
    effect: .none,
    retry: .later
  )

  private func start(
    _ socket: FileDescriptor,
    _ output: OutputLog
  ) async throws -> ReceiverProcess {
    let (outReading, outWriting) = try FileDescriptor.pipe()
    let (errorReading, errorWriting) = try FileDescriptor.pipe()
    let number = ReceiverLaunch.socketNumber
    let process = try await launch.start(
      descriptors: [1: outWriting, 2: errorWriting, number: socket],
      environment: [BytePath("HANDOFF_FD=\(number)")]
    )
    // Only the child has them now, so their end is the child's.
    try socket.close()
    try outWriting.close()
    try errorWriting.close()
    try output.attach(outReading)
    try output.attach(errorReading)
    return process
  }

  // MARK: The life of the process

  private enum Event: Sendable {
    case peerEnded(String?)
    case introduced(ResultError?)
    case exited(ReceiverProcess.End)
    case outputEnded
  }

  private func serve(_ run: PluginRun) async -> PluginRun.End {
    await withTaskGroup(of: Event.self) { group in
      group.addTask { await Self.converse(run.peer) }
      group.addTask { .introduced(await self.introduce(run.peer)) }
      group.addTask { .exited(await run.process.exit()) }
      group.addTask {
        await run.output.follow(self.launch.host.logger, self.settings.name)
        return .outputEnded
      }
      var end = PluginRun.End()
      for await event in group { handle(event, run, &end) }
      end.outputTail = run.output.tail
      end.lastLine = run.output.lastLine
      return end
    }
  }

  private func handle(_ event: Event, _ run: PluginRun, _ end: inout PluginRun.End) {
    switch event {
    case .peerEnded(let problem):
      end.problem = end.problem ?? problem
      // Whose socket has ended knows that it is to end; who was cancelled for is not waited for.
      let patience = Task.isCancelled ? Duration.zero : limits.grace
      run.process.terminate(after: patience, grace: limits.grace)
    case .introduced(let failure):
      guard let failure else { return }
      end.startFailure = failure
      run.process.terminate(grace: limits.grace)
    case .exited(let exit):
      end.exit = exit
      run.output.finish()
      // Something that the process left behind may hold the socket for ever.
      _ = EventLoop.process.after(.seconds(2)) { run.peer.close() }
    case .outputEnded:
      return
    }
  }

  private static func converse(_ peer: RPCPeer) async -> Event {
    do {
      try await peer.run()
      return .peerEnded(nil)
    } catch is CancellationError {
      return .peerEnded(nil)
    } catch {
      return .peerEnded("\(error)")
    }
  }

  private func conclude(_ end: PluginRun.End) async throws {
    try Task.checkCancellation()
    if let exit = end.exit, !exit.hasRun {
      let reason = end.lastLine ?? "\(exit.status)"
      throw ResultError(
        .destinationUnavailable,
        "the plugin could not be contained: \(reason)",
        effect: .none,
        retry: .later
      )
      .explained(by: launch.denial(in: end.outputTail))
    }
    if let failure = end.startFailure {
      guard failure.code == Self.gone.code, let exit = end.exit else { throw failure }
      let words = end.lastLine.map { ": \($0)" } ?? ""
      throw ResultError(
        .destinationUnavailable,
        "the plugin ended before it could be discovered (\(exit.status))\(words)",
        effect: .none,
        retry: .later
      )
      .explained(by: launch.denial(in: end.outputTail))
    }
    let status = end.exit?.status ?? .signalled(0)
    await callbacks.onExit(
      PluginEnd(status: status, outputTail: end.outputTail, problem: end.problem.map { shown($0) })
    )
  }

  // MARK: Discovery

  private func introduce(_ peer: RPCPeer) async -> ResultError? {
    do {
      let agreed = try await discover(peer)
      introduction.set(.success(agreed))
      await callbacks.onReady(agreed)
      return nil
    } catch let error as ResultError {
      return error.explained(by: launch.denial(in: error.message))
    } catch PeerError.timedOut {
      return ResultError(
        .destinationUnavailable,
        "the plugin did not answer discover within \(limits.discovery)",
        effect: .none,
        retry: .later
      )
    } catch let error as ProtocolError {
      return ResultError(
        .destinationUnavailable,
        "the plugin's answer to discover is malformed: \(error.message)",
        effect: .none,
        retry: .afterFix
      )
    } catch {
      // The connection has ended, or the run was cancelled.
      return Self.gone
    }
  }

  private func discover(_ peer: RPCPeer) async throws -> PluginIntroduction {
    let parameters = DiscoverParameters(
      protocolVersions: HandoffRequest.supportedVersions.filter(
        settings.protocolVersions.contains
      ),
      destination: settings.name,
      settings: settings.settings
    )
    let answer: JSONValue
    do {
      answer = try await peer.call(
        MessageMethod.discover.rawValue,
        try WireCoder.value(parameters),
        within: limits.discovery
      )
    } catch let failure as RPCMessage.Failure {
      throw failure.data
        ?? ResultError(.destinationUnavailable, failure.message, effect: .none, retry: .afterFix)
    }
    let discovery = try WireCoder.document(Discovery.self, from: answer)
    let agreement = try VersionAgreement(
      configured: settings.protocolVersions,
      receiver: discovery.protocolVersions
    )
    if let unseen = try launch.unseen(in: settings.settings, by: discovery.settingsSchema) {
      throw unseen
    }
    return PluginIntroduction(discovery: discovery, agreement: agreement)
  }
}

/// The parts of one life of a plugin, and what became of it.
private struct PluginRun: Sendable {
  let process: ReceiverProcess
  let peer: RPCPeer
  let output: OutputLog

  struct End: Sendable {
    var exit: ReceiverProcess.End?
    var problem: String?
    var startFailure: ResultError?
    var outputTail = ""
    var lastLine: String?
  }
}
