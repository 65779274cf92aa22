import AssetLibrary
import HandoffControl
import HandoffLog
import HandoffProtocol
import Ledger
import Synchronization

/// The one check of the library that the broker runs at a time, asked for over the control socket.
///
/// Asking for a whole check while one runs attaches to it. A check goes on when whoever asked for it has
/// gone.
final class CheckDesk: Sendable {
  private struct Job: Sendable {
    let parameters: CheckParameters
    let progress: CheckProgress
    let pace: ReadPace
  }

  private struct State {
    var job: Job?
    var isTaken = true
  }

  private let library: AssetLibrary
  private let ledger: Ledger
  private let stop: StopState
  private let now: @Sendable () -> Timestamp
  private let logger: Logger
  private let state = Mutex(State())
  private let signal = WakeSignal()

  init(
    library: AssetLibrary,
    ledger: Ledger,
    stop: StopState,
    now: @escaping @Sendable () -> Timestamp,
    logger: Logger
  ) {
    self.library = library
    self.ledger = ledger
    self.stop = stop
    self.now = now
    self.logger = logger
  }

  /// Begins a check, or attaches to the whole one that runs.
  ///
  /// - Throws: ``ControlError`` with `refused` while another check runs.
  func start(_ parameters: CheckParameters) throws -> CheckReport {
    let progress = try state.withLock { state throws(ControlError) in
      if let job = state.job, job.progress.report.state == .running {
        guard job.parameters.localIdentifier == nil, parameters.localIdentifier == nil,
          !parameters.restart
        else {
          throw ControlError(.refused, "another check of the library runs; see `handoff fsck`")
        }
        return job.progress
      }
      let progress = CheckProgress(startedAt: now())
      let pace = ReadPace(bytesPerSecond: parameters.bytesPerSecond) { progress.read($0) }
      state = State(
        job: Job(parameters: parameters, progress: progress, pace: pace),
        isTaken: false
      )
      return progress
    }
    signal.signal()
    return progress.report
  }

  /// What is being checked, or was checked last; nil where nothing was.
  var progress: CheckProgress? { state.withLock { $0.job?.progress } }

  /// Ends the check that runs; the next one goes on from there.
  func end() { state.withLock { $0.job }?.pace.stop() }

  /// Runs the checks that are asked for until the service drains.
  func run() async {
    stop.wakeOnDrain(signal)
    let drained = WakeSignal()
    stop.wakeOnDrain(drained)
    await withDiscardingTaskGroup { group in
      group.addTask {
        await drained.wait()
        self.end()
      }
      while !stop.isDraining, !Task.isCancelled {
        if let job = next() { await perform(job) } else { await signal.wait() }
      }
    }
  }

  private func next() -> Job? {
    state.withLock { state in
      defer { state.isTaken = true }
      return state.isTaken ? nil : state.job
    }
  }

  private func perform(_ job: Job) async {
    let check = LibraryCheck(
      library: library,
      ledger: ledger,
      progress: job.progress,
      pace: job.pace,
      settled: CareQuestions.safetyAge,
      now: now,
      logger: logger
    )
    do {
      try await job.progress.failing { try await check.run(job.parameters) }
    } catch {
      logger.warning("A check of the library ended early", [.error: "\(error)"])
    }
  }
}
