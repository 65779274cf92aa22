import LinuxSystem
import Synchronization

/// The threads on which resources are read and written.
///
/// One lane a core (at least two) for anything, and one more that long work never takes: however many
/// long copies run, a short import finds a lane. Callers wait in order; their number is the only bound
/// of the queue, and each of them holds an open export.
final class ImportLanes: Sendable {
  /// Work on more bytes than this is long: about 50 ms on a slow disk.
  static let longWork: Int64 = 8 << 20

  private struct Waiter {
    let isLong: Bool
    let continuation: CheckedContinuation<BlockingThread, Never>
  }

  /// Something is being imported, or waits for a lane.
  var isBusy: Bool {
    state.withLock { $0.idle.count < laneCount || !$0.waiting.isEmpty }
  }

  private struct State {
    var idle: [BlockingThread]
    /// How many more long pieces of work may run.
    var longSlots: Int
    var waiting: [Waiter] = []

    mutating func nextServed() -> (Waiter, BlockingThread)? {
      guard let next = waiting.firstIndex(where: { !$0.isLong || longSlots > 0 }),
        let lane = idle.popLast()
      else { return nil }
      let waiter = waiting.remove(at: next)
      if waiter.isLong { longSlots -= 1 }
      return (waiter, lane)
    }
  }

  private let state: Mutex<State>
  private let laneCount: Int

  /// - Parameter count: lanes for anything; the one for short work comes on top.
  init(count: Int) {
    let lanes = (0...count).map { BlockingThread("library.import.\($0)") }
    laneCount = lanes.count
    state = Mutex(State(idle: lanes, longSlots: count))
  }

  /// Runs blocking work on the next free lane; `bytes` is how much it will read.
  nonisolated(nonsending) func run<Value: Sendable, Failure: Error>(
    bytes: Int64,
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let isLong = bytes > Self.longWork
    let lane = await takeLane(isLong: isLong)
    defer { giveBack(lane, isLong: isLong) }
    return try await lane.run(work)
  }

  private nonisolated(nonsending) func takeLane(isLong: Bool) async -> BlockingThread {
    await withCheckedContinuation { continuation in
      serve { $0.waiting.append(Waiter(isLong: isLong, continuation: continuation)) }
    }
  }

  private func giveBack(_ lane: BlockingThread, isLong: Bool) {
    serve { state in
      state.idle.append(lane)
      if isLong { state.longSlots += 1 }
    }
  }

  /// Changes the state, then gives idle lanes to whoever may have them.
  private func serve(_ change: (inout sending State) -> Void) {
    let served = state.withLock { state in
      change(&state)
      var served: [(Waiter, BlockingThread)] = []
      while let next = state.nextServed() { served.append(next) }
      return served
    }
    for (waiter, lane) in served { waiter.continuation.resume(returning: lane) }
  }
}
