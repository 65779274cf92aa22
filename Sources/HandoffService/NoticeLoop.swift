import Callbacks
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Synchronization

/// Brings the due notices of one callback id.
///
/// What is under way is remembered here only, and nothing is claimed in the ledger: a broker that dies
/// leaves the notice pending, and the next one brings it again.
struct NoticeLoop: Sendable {
  let callback: CallbackID
  let delivery: CallbackDelivery
  let ledger: Ledger
  let signal: WakeSignal
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// From the first try on; after it a notice is given up and listed.
  static let retry = RetryPolicy(
    limit: .seconds(86_400),
    first: .seconds(2),
    maximum: .seconds(900)
  )

  /// How long a stop waits for what is under way.
  private static let patience: Duration = .seconds(5)

  /// Runs until the service drains, then waits a little for what is under way.
  func run() async {
    stop.wakeOnDrain(signal)
    let underWay = UnderWay()
    await withDiscardingTaskGroup { group in
      var failures = 0
      while !stop.isDraining, !Task.isCancelled {
        // In this order: what ends after this line is at worst left for the next look.
        let busy = underWay.ids
        guard busy.count < delivery.concurrency else {
          await signal.wait()
          continue
        }
        let next: [Notice]
        do {
          next = try await waiting(besides: busy)
          failures = 0
        } catch {
          failures += 1
          if failures == 1 { report("Notices cannot be read", [.error: "\(error)"]) }
          await signal.wait(atMost: .seconds(min(failures, 15)))
          continue
        }
        let moment = now()
        let due = next.filter { $0.dueAt <= moment }.prefix(delivery.concurrency - busy.count)
        for notice in due {
          underWay.begin(notice.id)
          group.addTask {
            await bring(notice)
            underWay.end(notice.id)
            signal.signal()
          }
        }
        if due.isEmpty { await signal.wait(atMost: next.first.map { $0.dueAt.since(moment) }) }
      }
      // What does not end soon is ended, and brought again by the next start.
      let end = ContinuousClock.now.advanced(by: Self.patience)
      while !underWay.ids.isEmpty, .now < end {
        await signal.wait(atMost: ContinuousClock.now.duration(to: end))
      }
      group.cancelAll()
    }
  }

  private func waiting(besides busy: Set<Notice.ID>) async throws -> [Notice] {
    try await ledger.nextNotices(for: callback, limit: 2 * delivery.concurrency)
      .filter { !busy.contains($0.id) }
  }

  private func bring(_ notice: Notice) async {
    do {
      try await delivery.deliver(notice)
    } catch is CancellationError {
      return
    } catch {
      let next = (error as? DeliveryFailure)?.next ?? .again(after: 0)
      return await recordFailure(of: notice, "\(error)", next)
    }
    await recorded { try await ledger.recordDelivery(of: notice.id) }
    logger.info("Brought a notice", fields(notice))
  }

  private func recordFailure(
    of notice: Notice,
    _ reason: String,
    _ next: DeliveryFailure.Next
  ) async {
    let (retry, floor): (RetryPolicy?, Duration) =
      switch next {
      case .again(let seconds): (Self.retry, .seconds(seconds))
      case .never: (nil, .zero)
      }
    await recorded {
      let after = try await ledger.recordFailedDelivery(
        of: notice.id,
        reason,
        retry: retry,
        jitter: Double.random(in: 0...1),
        floor: floor
      )
      let fields = fields(notice).merging([.reason: reason]) { first, _ in first }
      if after.state == .failed {
        logger.error("A notice was given up", fields)
      } else if after.attempts == 1 {
        logger.warning("A notice did not arrive and is tried again", fields)
      } else {
        logger.debug("A notice did not arrive again", fields)
      }
    }
  }

  /// Only a broker that ends may bring a notice twice, not a disk that is full for a while.
  private func recorded(_ write: @escaping @Sendable () async throws -> Void) async {
    let fields: [LogKey: String] = [.callback: callback.text]
    do {
      try await LastingWrite(stop: stop, logger: logger)
        .run("What became of a notice waits", fields, write)
    } catch let error as LedgerError {
      report("A notice is gone", [.error: "\(error)"])
    } catch {
      report("What became of a notice was not written down", [.error: "\(error)"])
    }
  }

  private func report(_ message: StaticString, _ fields: [LogKey: String]) {
    logger.error(message, fields.merging([.callback: callback.text]) { first, _ in first })
  }

  private func fields(_ notice: Notice) -> [LogKey: String] {
    [
      .callback: callback.text, .noticeID: notice.id.description,
      .detail: "\(notice.kind.rawValue) of \(notice.subject)",
    ]
  }
}

/// The notices that are being brought.
private final class UnderWay: Sendable {
  private let state = Mutex<Set<Notice.ID>>([])

  var ids: Set<Notice.ID> { state.withLock { $0 } }

  func begin(_ id: Notice.ID) {
    state.withLock { _ = $0.insert(id) }
  }

  func end(_ id: Notice.ID) {
    state.withLock { _ = $0.remove(id) }
  }
}
