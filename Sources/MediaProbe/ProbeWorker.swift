import Glibc
import HandoffCore
import HandoffLog
import LinuxSystem
import Paths

/// One worker process, started when it is needed, on a thread that may wait for it.
actor ProbeWorker {
  private let thread: BlockingThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// What this worker was asked, over all its processes.
  nonisolated let asked = QuestionCount()
  private let executable: BytePath
  private let limit: Duration
  private let logger: Logger
  private var running: (process: SpawnedProcess, channel: ProbeChannel)?
  private var isShutDown = false

  /// libavformat and what it loads need about 300 MB of addresses; a decoded 8K frame 100 MB.
  private static let limits: [ProcessCommand.Limit] = [
    .addressSpace(1 << 30), .coreSize(0), .fileSize(0), .openFiles(32),
  ]

  init(_ executable: BytePath, number: Int, limit: Duration, logger: Logger) {
    thread = BlockingThread("probe.\(number)")
    self.executable = executable
    self.limit = limit
    self.logger = logger
  }

  /// Probes one file for a caller that has this worker for itself.
  func verdict(for descriptor: FileDescriptor, size: Int64) async -> ProbeVerdict {
    do {
      return try await ask(descriptor, size)
    } catch ProbeChannel.Failure.notTaken {
      // The process died while it had nothing to do, which is not this file's fault.
      await end("was gone")
    } catch {
      return await lost(error)
    }
    do {
      return try await ask(descriptor, size)
    } catch {
      return await lost(error)
    }
  }

  /// Ends the process.
  func shutdown() async {
    isShutDown = true
    guard let running else { return }
    self.running = nil
    // The end of its socket is its sign to leave.
    running.channel.close()
    _ = await running.process.terminate(grace: .seconds(1))
  }

  private func ask(_ descriptor: FileDescriptor, _ size: Int64) async throws -> ProbeVerdict {
    let channel = try await start()
    return try channel.ask(descriptor, size: size, limit: limit)
  }

  private func start() async throws -> ProbeChannel {
    if let running { return running.channel }
    guard !isShutDown else { throw ProbeChannel.Failure.notTaken }
    let (near, far) = try UnixSocket.pair()
    var command = ProcessCommand(executable)
    command.descriptors[3] = far
    command.limits = Self.limits
    let process = try await SpawnedProcess.spawn(command)
    let channel = ProbeChannel(near, asked)
    running = (process, channel)
    logger.debug("The probe started a worker.", [.pid: "\(process.id)"])
    return channel
  }

  /// The verdict of a file whose worker was lost, or never came to be.
  private func lost(_ error: any Error) async -> ProbeVerdict {
    let detail = await end("\(error)")
    return .failed(detail)
  }

  /// Kills what is left of the process, and says how it ended.
  @discardableResult
  private func end(_ reason: String) async -> String {
    guard let running else { return "the probe could not be started: \(reason)" }
    self.running = nil
    running.channel.close()
    running.process.signalGroup(SIGKILL)
    let status = await running.process.exit()
    let detail = "the probe \(reason) (\(status))"
    logger.warning(
      "The probe lost a worker.",
      [.pid: "\(running.process.id)", .reason: reason, .status: "\(status)"]
    )
    return detail
  }
}
