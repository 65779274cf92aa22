import Glibc
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Has the configured opener open a URL in the desktop's session.
///
/// What it opens belongs to the user: it runs in a session of its own, and outlives the opener and the
/// broker. An opener that still runs after the time limit is itself what was opened.
struct NoticeOpener: Sendable {
  let callback: CallbackID
  /// To which the URL is added.
  let command: [String]
  let host: CallbackHost
  let logger: Logger

  /// - Throws: ``DeliveryFailure``, or `CancellationError` where the broker stops meanwhile.
  func open(_ url: String) async throws {
    guard let program = host.program(of: command) else {
      let name = BytePath(command.first ?? "").displayText
      throw DeliveryFailure("the command \(name) is not there or not executable")
    }
    // The process that is waited for only waits; the opener is not in its group.
    guard let setsid = host.program(of: ["setsid"]) else {
      throw DeliveryFailure("the command setsid is not there")
    }
    try Task.checkCancellation()
    let words = command.dropFirst().map { BytePath($0) } + [BytePath(url)]
    var start = ProcessCommand(setsid, arguments: ["--fork", "--wait", program] + words)
    start.environment = host.variables(callback.text)
    start.workingDirectory = "/"
    let process: SpawnedProcess
    do {
      process = try await SpawnedProcess.spawn(start)
    } catch {
      throw DeliveryFailure("the command could not be started: \(error)")
    }
    let (status, isLate) = await end(of: process)
    logger.debug("A callback's opener has ended", [.callback: callback.text, .status: "\(status)"])
    if status == .exited(0) || isLate { return }
    try Task.checkCancellation()
    throw DeliveryFailure("the opener ended with \(status)")
  }

  private func end(of process: SpawnedProcess) async -> (ExitStatus, isLate: Bool) {
    let isLate = Atomic(false)
    let limit = EventLoop.process.after(host.timeLimit) {
      isLate.store(true, ordering: .releasing)
      process.signalGroup(SIGKILL)
    }
    defer { limit.cancel() }
    let status = await withTaskCancellationHandler {
      await process.exit()
    } onCancel: {
      process.signalGroup(SIGKILL)
    }
    return (status, isLate.load(ordering: .acquiring))
  }
}
