import Glibc
import LinuxSystem
import Synchronization

/// A running receiver, contained or not.
///
/// Bubblewrap itself dies of the first signal, and everything in it with it. So that a contained
/// receiver can end gracefully too, signals go to its own session, which bubblewrap tells of; the
/// end of its namespace's first process takes all others with it, wherever they have gone.
final class ReceiverProcess: Sendable {
  /// How it ended.
  struct End: Sendable {
    let status: ExitStatus
    /// False: bubblewrap could not prepare what the command was to see, so nothing was run.
    let hasRun: Bool
  }

  private let process: SpawnedProcess
  private let isContained: Bool
  private let notes = ContainmentNotes()
  private let notesEnded = OneTimeValue<Bool>()
  private let reader: PipeReader
  private let timers = Mutex<[EventLoop.Registration]>([])

  init(
    _ process: SpawnedProcess,
    isContained: Bool,
    status pipe: FileDescriptor
  ) throws(SystemError) {
    self.process = process
    self.isContained = isContained
    let (notes, ended) = (notes, notesEnded)
    reader = try PipeReader(pipe, take: { notes.take($0) }, end: { ended.set(true) })
  }

  deinit {
    cancelTimers()
  }

  var id: pid_t { process.id }

  /// Waits for the end. Not cancellable: ``terminate(after:grace:)`` brings it about.
  func exit() async -> End {
    let status = await process.exit()
    cancelTimers()
    guard isContained else { return End(status: status, hasRun: true) }
    // The last note was written before bubblewrap ended, so it is in the pipe by now.
    reader.finish()
    do {
      _ = try await notesEnded.get()
    } catch {
      // Cancelled meanwhile: what is known has to do.
      return End(status: translated(status), hasRun: notes.hasRun)
    }
    return End(status: translated(status), hasRun: notes.hasRun)
  }

  /// Begins to end the receiver: a time to end by itself, SIGTERM, a time to clean up, SIGKILL.
  ///
  /// Returns at once; each call adds its own steps, so the earliest counts.
  func terminate(after patience: Duration = .zero, grace: Duration) {
    if patience > .zero {
      step(after: patience) { $0.ask() }
    } else {
      ask()
    }
    step(after: patience + grace) { $0.kill() }
    // Bubblewrap ends with its child; if not, it is ended too.
    step(after: patience + grace + .seconds(2)) { $0.process.signalGroup(SIGKILL) }
  }

  private func step(after time: Duration, _ work: @escaping @Sendable (ReceiverProcess) -> Void) {
    let timer = EventLoop.process.after(time) { [weak self] in
      if let self { work(self) }
    }
    timers.withLock { $0.append(timer) }
  }

  private func cancelTimers() {
    let timers = timers.withLock { timers in
      defer { timers = [] }
      return timers
    }
    for timer in timers { timer.cancel() }
  }

  private func ask() {
    guard isContained else {
      process.signalGroup(SIGTERM)
      return process.signalGroup(SIGCONT)
    }
    var wasAsked = true
    process.whileRunning {
      let inner = notes.inner(childOf: process.id)
      wasAsked = inner.map { Glibc.kill(-$0, SIGTERM) == 0 } ?? false
      if wasAsked, let inner { _ = Glibc.kill(-inner, SIGCONT) }
    }
    // Bubblewrap has not told of it yet; the steps after this one come all the same.
    if !wasAsked { step(after: .milliseconds(50)) { $0.ask() } }
  }

  private func kill() {
    process.whileRunning {
      let inner = isContained ? notes.inner(childOf: process.id) : nil
      _ = Glibc.kill(inner ?? -process.id, SIGKILL)
    }
  }

  /// Bubblewrap exits as a shell would: 128 and the signal's number.
  private func translated(_ status: ExitStatus) -> ExitStatus {
    guard case .exited(let code) = status, notes.hasRun, (129...192).contains(code) else {
      return status
    }
    return .signalled(code - 128)
  }
}
