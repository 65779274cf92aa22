import HandoffLog
import Synchronization

/// The stages that can end and begin while the broker runs: one for each destination and callback.
final class RunningStages: Sendable {
  /// One stage, from its start to its end.
  final class Stage: Sendable {
    /// Draining ends this one alone.
    let stop: StopState
    private let work: @Sendable () async -> Void
    private let cut = WakeSignal()
    private let ended = WakeSignal()
    private let hasEnded = Atomic(false)

    fileprivate init(stop: StopState, work: @escaping @Sendable () async -> Void) {
      self.stop = stop
      self.work = work
    }

    fileprivate func run() async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { [work] in await work() }
        group.addTask { [cut] in await cut.wait() }
        await group.next()
        group.cancelAll()
      }
      end()
    }

    fileprivate func end() {
      hasEnded.store(true, ordering: .releasing)
      ended.signal()
    }

    /// Starts nothing more, lets what runs end, and ends it where that takes too long.
    ///
    /// Only one may wait for it.
    func end(within limit: Duration) async {
      stop.drain()
      let moment = ContinuousClock.now.advanced(by: limit)
      while !hasEnded.load(ordering: .acquiring), .now < moment {
        await ended.wait(atMost: ContinuousClock.now.duration(to: moment))
      }
      cut.signal()
      while !hasEnded.load(ordering: .acquiring) { await ended.wait() }
    }
  }

  private let stop: StopState
  private let stages = Mutex<[String: Stage]>([:])
  private let (starts, starter) = AsyncStream.makeStream(of: Stage.self)

  init(stop: StopState) {
    self.stop = stop
  }

  /// Starts a stage under a name that no other has; at the latest once ``run()`` runs.
  ///
  /// - Parameters:
  ///   - name: for ``end(_:within:)``.
  ///   - stop: its own, a child of the service's.
  ///   - work: returns once its state drains and what it began has ended.
  func start(_ name: String, stop: StopState, _ work: @escaping @Sendable () async -> Void) {
    let stage = Stage(stop: stop, work: work)
    stages.withLock { $0[name] = stage }
    if case .terminated = starter.yield(stage) { stage.end() }
  }

  /// Ends the stage of a name, if there is one, and returns when nothing of it runs any more.
  func end(_ name: String, within limit: Duration) async {
    guard let stage = stages.withLock({ $0.removeValue(forKey: name) }) else { return }
    await stage.end(within: limit)
    self.stop.release(stage.stop)
  }

  /// Runs what is started, until the service drains and all of it has ended.
  func run() async {
    let drained = WakeSignal()
    stop.wakeOnDrain(drained)
    await withDiscardingTaskGroup { group in
      group.addTask { [starter] in
        await drained.wait()
        starter.finish()
      }
      for await stage in starts { group.addTask { await stage.run() } }
      // What was started after the last one was taken will never run.
      starter.finish()
    }
  }
}
