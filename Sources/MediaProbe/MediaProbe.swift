package import HandoffCore
package import HandoffLog
package import LinuxSystem
package import Paths
import Synchronization

/// Asks `handoff-probe` whether a file is whole and what it is.
///
/// libavformat runs in worker processes of their own: what crashes, hangs or eats memory there costs
/// the one file its verdict. A worker is started when it is first needed and again after it was lost.
/// At most `workers` files are probed at once; further callers wait in order of arrival, each with its
/// own descriptor, so the queue is never longer than the number of callers.
package final class MediaProbe: Sendable {
  private struct State {
    var idle: [ProbeWorker]
    var waiting: [(id: UInt64, continuation: CheckedContinuation<ProbeWorker?, Never>)] = []
    var nextID: UInt64 = 0
    var isShutDown = false
  }

  private let workers: [ProbeWorker]
  private let state: Mutex<State>

  /// Starts no process yet.
  ///
  /// - Parameters:
  ///   - executable: `handoff-probe`, as an absolute path.
  ///   - workers: processes, each of which probes one file at a time.
  ///   - limit: time for one file, after which its worker is killed.
  ///   - logger: hears of workers that were started (debug) and lost (warning).
  package init(
    executable: BytePath,
    workers: Int = 2,
    limit: Duration = .seconds(20),
    logger: Logger
  ) {
    let all = (0..<max(1, workers)).map {
      ProbeWorker(executable, number: $0, limit: limit, logger: logger)
    }
    self.workers = all
    state = Mutex(State(idle: all))
  }

  /// Probes an open regular file.
  ///
  /// The file's position is left where it was. A cancelled caller gets a failed verdict at once if its
  /// turn has not come, else the real one.
  /// - Parameters:
  ///   - descriptor: open for reading.
  ///   - size: the file's size as the caller has seen it, in bytes; a file that has another one by now is
  ///     incomplete.
  /// - Returns: the verdict; a failed one where there is none.
  nonisolated(nonsending) package func verdict(
    for descriptor: FileDescriptor,
    size: Int64
  ) async -> ProbeVerdict {
    guard let worker = await takeWorker() else {
      return .failed("not probed: the broker is shutting down")
    }
    let verdict = await worker.verdict(for: descriptor, size: size)
    giveBack(worker)
    return verdict
  }

  /// How many files have been given to workers since the start.
  package var filesAsked: Int { workers.reduce(0) { $0 + $1.asked.count } }

  /// Ends the workers; whoever still waits for one gets a failed verdict.
  package func shutdown() async {
    let waiting = state.withLock { state in
      state.isShutDown = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.continuation.resume(returning: nil) }
    for worker in workers { await worker.shutdown() }
  }

  private enum Turn {
    case now(ProbeWorker?)
    case later
  }

  nonisolated(nonsending) private func takeWorker() async -> ProbeWorker? {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if case .now(let worker) = enter(id, continuation) {
          continuation.resume(returning: worker)
        }
      }
    } onCancel: {
      leave(id)
    }
  }

  private func enter(
    _ id: UInt64,
    _ continuation: CheckedContinuation<ProbeWorker?, Never>
  ) -> Turn {
    state.withLock { state in
      if state.isShutDown || Task.isCancelled { return .now(nil) }
      if let worker = state.idle.popLast() { return .now(worker) }
      state.waiting.append((id, continuation))
      return .later
    }
  }

  private func leave(_ id: UInt64) {
    let waiter = state.withLock { state in
      state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
    }
    waiter?.continuation.resume(returning: nil)
  }

  private func giveBack(_ worker: ProbeWorker) {
    let next = state.withLock { state -> CheckedContinuation<ProbeWorker?, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst().continuation }
      state.idle.append(worker)
      return nil
    }
    next?.resume(returning: worker)
  }
}

extension ProbeVerdict {
  /// The file has no verdict.
  static func failed(_ detail: String) -> ProbeVerdict {
    ProbeVerdict(.failed, evidence: [Evidence(.probe, passed: false, detail)])
  }
}
