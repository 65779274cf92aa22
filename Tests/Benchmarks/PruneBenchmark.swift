import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// How long the pruning of old handoffs holds the writer up.
enum PruneBenchmark {
  static func run(_ count: Int, in folder: BytePath) async throws {
    let ledger = try await Ledger.open(
      directory: folder,
      logger: .silent,
      now: LedgerBenchmark.present
    )
    // Some of each asset, as in life.
    let share = 500
    for number in 0..<UInt64(max(1, count / share)) {
      try await LedgerBenchmark.fill(ledger, lives: share, number: number)
    }
    let clock = ContinuousClock()
    var cursor: Handoff.ID?
    var longest = Duration.zero
    var dropped = 0
    let start = clock.now
    repeat {
      let began = clock.now
      let step = try await ledger.prune(
        endedBefore: LedgerBenchmark.present().advanced(by: .seconds(1)),
        after: cursor
      )
      longest = max(longest, clock.now - began)
      dropped += step.handoffs
      cursor = step.next
    } while cursor != nil
    let all = clock.now - start
    print("prune: \(dropped) handoffs in \(all), the longest piece \(longest)")
    let audit = try await ledger.audit()
    print("prune: \(audit?.findings.count ?? -1) findings, \(audit?.prunedRanges ?? 0) runs")
    try await ledger.close()
  }
}
