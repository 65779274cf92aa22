import HandoffCore
import HandoffProtocol
import Paths
import Testing

/// Where no events tell of changes, looks and change times have to.
@Suite("SettleTracker: quiet in polled places")
struct PolledQuietTests {
  /// An identity whose change time lies so long before the bench's beginning.
  private static func identity(_ size: Int64, changed: Duration) -> FileIdentity {
    let moment = TrackerBench().moment.time.advanced(by: changed)
    let time = moment.milliseconds * 1_000_000
    return FileIdentity(device: 1, inode: 1, size: size, modified: 0, changed: time)
  }

  private static func finding(
    _ identity: FileIdentity,
    _ judgement: ProbeVerdict.Judgement
  ) -> CandidateFinding {
    .judged(TrackerBench.verdict(judgement), identity, .lease)
  }

  @Test("Case 6: what grows between looks is not quiet, though no listing tells of it")
  func growsBetweenLooks() {
    var bench = TrackerBench()
    bench.observe("a.ts", .listed(TrackerBench.identity(1)))
    for version in Int64(2)...20 {
      #expect(bench.dueNext() == ["a.ts"])
      #expect(bench.judged("a.ts", .notProvable, version: version) == .wait)
      #expect(bench.state("a.ts") == .waitingQuiet)
    }
    let last = bench.now
    #expect(bench.dueNext() == ["a.ts"])
    #expect(bench.now == last + .seconds(5))
    #expect(bench.judged("a.ts", .notProvable, version: 20) == .importNow)
  }

  @Test("Case 6: a whole file that differs from what was listed waits for a second equal look")
  func differsFromListing() {
    var bench = TrackerBench()
    bench.observe("a.mp4", .listed(TrackerBench.identity(1)))
    #expect(bench.dueNext() == ["a.mp4"])
    let first = bench.now
    #expect(bench.judged("a.mp4", .complete, version: 2) == .wait)
    #expect(bench.report("a.mp4")?.reason?.contains("two equal looks") == true)
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.now == first + .seconds(1))
    #expect(bench.judged("a.mp4", .complete, version: 2) == .importNow)
  }

  @Test(
    "Case 6: the file's own last change has to be a quiet period ago",
    arguments: [(ProbeVerdict.Judgement.complete, 2), (.notProvable, 6)]
  )
  func ownChange(judgement: ProbeVerdict.Judgement, end: Int) {
    var bench = TrackerBench()
    // Another host's writer: the change came just before the look, and the clocks agree.
    let identity = Self.identity(7, changed: .seconds(1))
    bench.observe("a.ts", .listed(identity))
    #expect(bench.dueNext() == ["a.ts"])
    #expect(bench.now == .seconds(1))
    #expect(bench.examined("a.ts", Self.finding(identity, judgement)) == .wait)
    var looks = 0
    while bench.state("a.ts") != .importing, looks < 5 {
      looks += 1
      #expect(bench.dueNext() == ["a.ts"])
      _ = bench.examined("a.ts", Self.finding(identity, judgement))
    }
    #expect(bench.now == .seconds(end))
  }

  @Test("Case 54: a change time in the future holds nothing: equal looks do")
  func futureChange() {
    var bench = TrackerBench()
    let identity = Self.identity(7, changed: .seconds(1_000_000))
    bench.observe("a.ts", .listed(identity))
    #expect(bench.dueNext() == ["a.ts"])
    #expect(bench.examined("a.ts", Self.finding(identity, .notProvable)) == .wait)
    #expect(bench.dueNext() == ["a.ts"])
    #expect(bench.now == .seconds(5))
    #expect(bench.examined("a.ts", Self.finding(identity, .notProvable)) == .importNow)
  }

  @Test("an event that told of the change does not make the look wait again")
  func watched() {
    var bench = TrackerBench()
    bench.observe("a.mp4", .listed(TrackerBench.identity(1)))
    bench.observe("a.mp4", .changed(closed: true))
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete, version: 2) == .importNow)
  }
}
