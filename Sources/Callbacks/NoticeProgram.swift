import Glibc
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Brings a notice to a program: the document on standard input, members of it in the arguments.
///
/// Exit status 0 means that it has arrived; anything else, or no end in time, is tried again.
struct NoticeProgram: Sendable {
  let callback: CallbackID
  let command: [String]
  let host: CallbackHost
  let logger: Logger

  /// - Throws: ``DeliveryFailure``, or `CancellationError` where the broker stops meanwhile; then the
  ///   program has been ended.
  func run(_ document: [String: JSONValue], bytes: [UInt8]) async throws {
    guard let program = host.program(of: command) else {
      let name = BytePath(command.first ?? "").displayText
      throw DeliveryFailure("the command \(name) is not there or not executable")
    }
    try Task.checkCancellation()
    let output = OutputTail()
    let process: SpawnedProcess
    do {
      process = try await start(program, document, bytes, output)
    } catch {
      throw DeliveryFailure("the command could not be started: \(error)")
    }
    let (status, isLate) = await end(of: process)
    await output.finish()
    logger.debug(
      "A callback's program has ended",
      [.callback: callback.text, .status: "\(status)", .detail: output.text]
    )
    if status == .exited(0), !isLate { return }
    try Task.checkCancellation()
    let said = output.lastLine.map { ": \(BytePath($0).displayText)" } ?? ""
    throw DeliveryFailure(
      isLate ? "it did not end within \(host.timeLimit)\(said)" : "it ended with \(status)\(said)"
    )
  }

  private func start(
    _ program: BytePath,
    _ document: [String: JSONValue],
    _ bytes: [UInt8],
    _ output: OutputTail
  ) async throws(SystemError) -> SpawnedProcess {
    var start = ProcessCommand(program, arguments: NoticeArguments(document).filled(command))
    start.environment = host.variables(callback.text)
    start.workingDirectory = "/"
    start.limits = [.coreSize(0), .openFiles(4096)]
    let (outReading, outWriting) = try FileDescriptor.pipe()
    let (errorReading, errorWriting) = try FileDescriptor.pipe()
    start.descriptors = [0: try FileDescriptor.memory(bytes), 1: outWriting, 2: errorWriting]
    try output.attach(outReading)
    try output.attach(errorReading)
    return try await SpawnedProcess.spawn(start)
  }

  /// Waits for the end, and brings it about after the time limit or when the broker stops.
  private func end(of process: SpawnedProcess) async -> (ExitStatus, isLate: Bool) {
    let reminder = Reminder()
    return await withTaskCancellationHandler {
      reminder.after(host.timeLimit) {
        reminder.isLate.store(true, ordering: .releasing)
        process.signalGroup(SIGTERM)
        // A stopped process takes the signal only once it runs again.
        process.signalGroup(SIGCONT)
      }
      reminder.after(host.timeLimit + host.grace) { process.signalGroup(SIGKILL) }
      let status = await process.exit()
      reminder.cancel()
      return (status, reminder.isLate.load(ordering: .acquiring))
    } onCancel: {
      process.signalGroup(SIGKILL)
    }
  }
}

/// What happens to one program after a time, unless it has ended before.
private final class Reminder: Sendable {
  let isLate = Atomic(false)
  private let timers = Mutex<[EventLoop.Registration]>([])

  func after(_ time: Duration, _ work: @escaping @Sendable () -> Void) {
    let timer = EventLoop.process.after(time, work)
    timers.withLock { $0.append(timer) }
  }

  func cancel() {
    for timer in timers.withLock({ $0 }) { timer.cancel() }
  }
}
