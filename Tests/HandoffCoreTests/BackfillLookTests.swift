import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("Looks: new exports before back-fill")
struct BackfillLookTests {
  private func bench(existing count: Int) -> TrackerBench {
    var bench = TrackerBench(quiet: .seconds(1))
    for number in 0..<count {
      bench.observe(
        "old\(number).mp4",
        .listed(TrackerBench.identity(1, inode: UInt64(number + 1)))
      )
    }
    return bench
  }

  private func names(_ looks: [SettleTracker.Look]) -> [String] {
    looks.map { $0.path.lastComponent.lossyText }
  }

  @Test("an export that comes while 2,000 wait is looked at first")
  func first() {
    var bench = bench(existing: 2_000)
    bench.now = .seconds(5)
    #expect(bench.tracker.due(at: bench.moment, limit: 4).count == 4)
    bench.observe("new.mp4", .changed(closed: true))
    bench.now = .seconds(7)
    #expect(names(bench.tracker.due(at: bench.moment, limit: 1)) == ["new.mp4"])
    #expect(bench.tracker.due(at: bench.moment, limit: 20_000).count == 1_996)
  }

  @Test("what was there and is written again is new")
  func again() {
    var bench = bench(existing: 1_000)
    bench.observe("old999.mp4", .changed(closed: true))
    bench.now = .seconds(5)
    #expect(names(bench.tracker.due(at: bench.moment, limit: 1)) == ["old999.mp4"])
  }

  @Test("back-fill has a turn among however many new ones")
  func turns() {
    var bench = bench(existing: 10)
    for number in 0..<80 { bench.observe("new\(number).mp4", .changed(closed: true)) }
    bench.now = .seconds(5)
    let looks = names(bench.tracker.due(at: bench.moment, limit: 40))
    #expect(looks.filter { $0.hasPrefix("old") }.count == 5)
  }
}
