import Glibc
import HandoffLog
import LinuxSystem

/// Turns stop signals into draining, and draining that takes too long into an end.
struct StopSequence: Sendable {
  let signals: SignalSequence
  let stop: StopState
  let logger: Logger
  /// Asks for a reload; does not wait for it.
  let reload: @Sendable () -> Void

  /// What runs may take so long after the first signal; below systemd's default of 90 s.
  static let drainLimit: Duration = .seconds(30)

  /// Returns when waiting has had its time: after a second signal or the limit.
  func run() async {
    await nextStop()
    guard !Task.isCancelled else { return }
    logger.info("Stopping: no new work starts, what runs may end")
    stop.drain()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        do {
          try await Task.sleep(for: Self.drainLimit)
        } catch {
          // Cancelled, as everything has ended in time.
        }
      }
      group.addTask { await nextStop() }
      await group.next()
      group.cancelAll()
    }
    guard !Task.isCancelled else { return }
    logger.warning("Stopping now: what still runs is ended, and recovered at the next start")
  }

  /// Waits for a signal that stops; SIGHUP asks for a reload, or for nothing where the service stops.
  private func nextStop() async {
    var iterator = signals.makeAsyncIterator()
    while let signal = await iterator.next(), signal == SIGHUP {
      if !stop.isDraining { reload() }
    }
  }
}

extension StopState {
  /// Runs work that has no end of its own until draining starts, then cancels it and waits for it.
  func untilDraining(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let drained = WakeSignal()
    wakeOnDrain(drained)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        do {
          try await work()
        } catch is CancellationError {
          // That is how it is ended.
        }
      }
      group.addTask { await drained.wait() }
      try await group.next()
      group.cancelAll()
      try await group.waitForAll()
    }
  }
}
