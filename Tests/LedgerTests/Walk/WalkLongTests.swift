import HandoffTestSupport
import Ledger
import LinuxSystem
import SQLite
import Testing

/// The ledger against a naive model, over thousands of random steps: HANDOFF_SEED repeats a walk.
@Suite("A random walk of the ledger", .timeLimit(.minutes(30)))
struct WalkLongTests {
  private static let isLong = environmentValue("HANDOFF_LONG") != nil
  private static let walks = isLong ? 100 : 1
  private static let steps = isLong ? 5_000 : 3_000

  @Test("Every step leaves the ledger as a naive model has it")
  func walk() async throws {
    let given = environmentValue("HANDOFF_SEED").flatMap { UInt64($0) }
    let first = given ?? UInt64.random(in: 1...1_000_000_000)
    for seed in first..<(first + UInt64(Self.walks)) {
      print("walk of the ledger: HANDOFF_SEED=\(seed), \(Self.steps) steps")
      guard try await Self.walk(seed) else {
        Issue.record("HANDOFF_SEED=\(seed) repeats it")
        return
      }
    }
  }

  private static func walk(_ seed: UInt64) async throws -> Bool {
    try await withTemporaryDirectory(inMemory: true) { root in
      let walk = try await LedgerWalk(root, seed: seed)
      for number in 1...steps {
        guard try await walk.step() else { return false }
        if number.isMultiple(of: 100), try !walk.compareAll() { return false }
      }
      guard case .intact(let events) = try await walk.ledger.verifyChain() else {
        return walk.fault("the chain is broken")
      }
      let ends = Set(walk.model.values.map(\.status))
      print(
        "\(walk.model.count) handoffs, \(walk.crashes) crashes, \(events) events, \(ends.count) statuses"
      )
      // A walk that comes nowhere finds nothing.
      #expect(ends.count >= 9)
      #expect(walk.crashes > 0)
      try await walk.close()
      return true
    }
  }
}
