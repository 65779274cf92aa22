import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension LongTests {
  /// Cuts the power at many moments of a broker's life, and looks at what the disk may hold then.
  ///
  /// The disk is worse than any real one: it keeps only what was waited for, and of the rest anything.
  @Suite("Power loss")
  struct PowerLoss {
    private static let exports = isLong ? 6 : 2
    /// Cuts at random, besides those after each promise and around each wait for the disk.
    private static let random = isLong ? 100 : 10
    /// Of all the moments that count, so many are tried.
    private static let most = isLong ? Int.max : 50
    /// States on which a broker is started.
    private static let starts = isLong ? 20 : 4

    @Test(
      "what was acknowledged is there after a power cut at any moment, and no object is short",
      .timeLimit(.minutes(isLong ? 30 : 4))
    )
    func powerLoss() async throws {
      let seed = LongTests.seed
      print("power loss: seed \(seed)")
      try await PowerLossScene.run { power in
        let before = try await power.prepare(Self.exports)
        try await power.work(Self.exports)
        let log = try WriteLog(power.log)
        var walk = PowerLossWalk(log, before, power.scene.broker.config, seed)
        try await walk.run(
          cuts: Self.cuts(log, before, seed),
          starts: Self.starts
        )
        for fault in walk.faults.prefix(20) { Issue.record("seed \(seed): \(fault)") }
        print("\(walk) (seed \(seed), \(log.records.count) records)")
        #expect(walk.faults.isEmpty)
        // It has seen what it is about.
        let promises = walk.promised
        #expect(promises.assets.count == 4 * Self.exports)
        #expect(promises.submitted.count == 3 * Self.exports)
        // The answer to a result that the kill has swallowed is heard at the next start, as a reconciling.
        #expect((1...3 * Self.exports).contains(promises.results.count))
        #expect(promises.removed.count == 2 * Self.exports)
      }
    }

    /// The numbers of the records before which the power is cut, in order.
    private static func cuts(
      _ log: WriteLog,
      _ before: PowerLossScene.Before,
      _ seed: UInt64
    ) -> [Int] {
      var promises = Promises(folders: before.folders)
      var moments: Set<Int> = [log.records.count]
      for (index, record) in log.records.enumerated() {
        promises.take(record, at: index, log.bytes)
        switch record {
        case .syncBegin, .syncEnd, .rename, .link, .unlink: moments.insert(index + 1)
        default: break
        }
      }
      moments.formUnion(promises.moments.map { $0 + 1 })
      var random = SeededGenerator(seed: seed)
      for _ in 0..<Self.random {
        moments.insert(Int.random(in: 0...log.records.count, using: &random))
      }
      return moments.shuffled(using: &random).prefix(most).sorted()
    }
  }
}
