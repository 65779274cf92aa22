import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Synchronization

/// Claims the due handoffs of one destination, as many at once as it may have, and runs each.
struct ClaimLoop: Sendable {
  let destination: DestinationName
  let concurrency: Int
  let ledger: Ledger
  let signal: WakeSignal
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger
  /// Nothing is claimed while this is false; asked every now and then.
  var isOpen: @Sendable () -> Bool = { true }
  /// Leaves a destination alone that fails with everything; nil where its receiver is kept running.
  var circuit: DestinationCircuit?

  /// A claim that is not submitted within this time is free again.
  static let lease: Duration = .seconds(60)
  private static let closedWait: Duration = .seconds(1)

  /// Runs until the service drains, then waits for what was claimed.
  ///
  /// - Parameters:
  ///   - first: work that runs already and counts.
  ///   - running: counts what runs.
  ///   - deliver: carries one handoff until its attempt has ended.
  func run(
    first: [@Sendable () async -> Void] = [],
    counting running: Counter,
    _ deliver: @escaping @Sendable (ClaimedHandoff) async -> Void
  ) async {
    stop.wakeOnDrain(signal)
    await withDiscardingTaskGroup { group in
      func start(_ work: @escaping @Sendable () async -> Void) {
        running.add(1)
        group.addTask {
          await work()
          running.add(-1)
          signal.signal()
        }
      }
      for work in first { start(work) }
      var failures = 0
      while !stop.isDraining, !Task.isCancelled {
        let free = concurrency - running.value
        guard free > 0 else {
          // The end of what runs signals; until then the ledger has nothing to say.
          await signal.wait()
          continue
        }
        guard isOpen() else {
          await signal.wait(atMost: Self.closedWait)
          continue
        }
        let permitted: Int
        switch circuit?.permit ?? .any {
        case .any: permitted = free
        // One at a time shows whether it is back.
        case .one: permitted = running.value == 0 ? 1 : 0
        case .none(let rest):
          await signal.wait(atMost: rest)
          continue
        }
        guard permitted > 0 else {
          await signal.wait(atMost: Self.closedWait)
          continue
        }
        let claimed: [ClaimedHandoff]
        let due: Duration?
        do {
          claimed = try await claim(permitted)
          due = claimed.isEmpty ? try await timeUntilDue() : nil
          if failures > 0 { logger.notice("Handoffs are claimed again", about) }
          failures = 0
        } catch {
          // A full disk or a locked ledger passes: nothing is submitted until then.
          failures += 1
          if failures == 1 { report(error) }
          await signal.wait(atMost: .seconds(min(failures, 15)))
          continue
        }
        for handoff in claimed { start { await deliver(handoff) } }
        if claimed.isEmpty { await signal.wait(atMost: due) }
      }
    }
  }

  private func claim(_ free: Int) async throws -> [ClaimedHandoff] {
    try await ledger.claim(destination: destination, limit: free, lease: Self.lease)
  }

  private func report(_ error: any Error) {
    logger.error("Handoffs cannot be claimed", about.merging([.error: "\(error)"]) { $1 })
  }

  private var about: [LogKey: String] { [.destination: destination.text] }

  private func timeUntilDue() async throws -> Duration? {
    let now = now()
    guard let due = try await ledger.nextDue(destination: destination, at: now) else { return nil }
    // Never zero: what has come due since the claim is claimed at once, and nothing makes this loop spin.
    return max(due.since(now), .milliseconds(20))
  }
}

/// A count that several tasks change.
final class Counter: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add(_ change: Int) {
    count.add(change, ordering: .relaxed)
  }
}
