import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("SettleTracker: what is held, ignored and refused")
struct SettleTrackerHoldTests {
  private static let firstSeen = Timestamp(milliseconds: 1_600_000_000_000)

  private static func identity(milliseconds: Int64) -> FileIdentity {
    FileIdentity(
      device: 1,
      inode: 1,
      size: 1,
      modified: 0,
      changed: milliseconds * 1_000_000
    )
  }

  private static let old = identity(milliseconds: 1_600_000_000_000)

  private func ignoringBench() -> TrackerBench {
    TrackerBench(quiet: .zero) { $0.ignoredUpTo = Self.firstSeen }
  }

  @Test("what was there before is ignored for good, and one listing tells so once")
  func ignoresExisting() throws {
    var bench = ignoringBench()
    bench.observe("a.mp4", .listed(Self.old))
    let look = try #require(bench.tracker.due(at: bench.moment, limit: 1).first)
    #expect(look.existing == Self.old)
    #expect(bench.examined("a.mp4", .existing) == .wait)
    #expect(bench.state("a.mp4") == .ignored)
    bench.observe("a.mp4", .listed(Self.old), round: 2)
    bench.now = .seconds(1_000_000)
    #expect(bench.due() == [])
    #expect(bench.tracker.takeChanges().map(\.state) == [.ignored])
    #expect(bench.report("a.mp4")?.evidence.map(\.check) == [.arrival])
    #expect(bench.tracker.undecidedCounts == [0])
  }

  @Test("what came later is no such file")
  func takesLater() throws {
    var bench = ignoringBench()
    bench.observe("a.mp4", .listed(Self.identity(milliseconds: 1_600_000_000_001)))
    bench.now = .seconds(1)
    let look = try #require(bench.tracker.due(at: bench.moment, limit: 1).first)
    #expect(look.existing == nil)
  }

  @Test("an asset's file is not listed as ignored")
  func existingAsset() throws {
    var bench = ignoringBench()
    let identifier = try #require(TrackerBench.identifier)
    bench.observe("a.mp4", .listed(Self.old))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.examined("a.mp4", .known(identifier, Self.old)) == .wait)
    #expect(bench.state("a.mp4") == nil)
  }

  @Test(
    "a change, or a person's word, makes a candidate of what was ignored",
    arguments: [CandidateObservation.attributes, .changed(closed: true), nil]
  )
  func wakesExisting(observation: CandidateObservation?) throws {
    var bench = ignoringBench()
    bench.observe("a.mp4", .listed(Self.old))
    _ = bench.due()
    _ = bench.examined("a.mp4", .existing)
    if let observation {
      bench.observe("a.mp4", observation)
    } else {
      let isTracked = bench.tracker.judgeAgain(TrackerBench.path("a.mp4"), at: bench.moment)
      #expect(isTracked)
    }
    bench.now = .seconds(1)
    let look = try #require(bench.tracker.due(at: bench.moment, limit: 1).first)
    #expect(look.existing == nil)
    let finding = CandidateFinding.judged(TrackerBench.verdict(.complete), Self.old, .lease)
    #expect(bench.examined("a.mp4", finding) == .importNow)
  }

  @Test("a refused file is looked at again, ever more rarely, and does not begin anew each time")
  func looksAtRefused() {
    var bench = TrackerBench(quiet: .zero, giveUp: .seconds(5))
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.dueNext()
    _ = bench.judged("a.mp4", .incomplete)
    bench.now = .seconds(5)
    #expect(bench.due() == [])
    #expect(bench.state("a.mp4") == .refused)
    _ = bench.tracker.takeChanges()
    var waits: [Duration] = []
    for _ in 0..<8 {
      let before = bench.now
      #expect(bench.dueNext() == ["a.mp4"])
      waits.append(bench.now - before)
      #expect(bench.judged("a.mp4", .incomplete) == .wait)
      #expect(bench.state("a.mp4") == .refused)
    }
    #expect(waits.first == .seconds(600))
    #expect(waits.last == .seconds(21_600))
    #expect(bench.tracker.takeChanges().isEmpty)
    // The cause has passed without an event.
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .importNow)
  }

  @Test("an import that cannot pass is refused and tried again, ever more rarely")
  func repeatsRefusedImport() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    for _ in 0..<3 {
      #expect(bench.dueNext() == ["a.mp4"])
      #expect(bench.judged("a.mp4", .complete) == .importNow)
      bench.imported("a.mp4", .failed(reason: "two contents", state: .refused, mayPass: false))
      #expect(bench.state("a.mp4") == .refused)
    }
    #expect(bench.now >= .seconds(1800))
  }

  @Test("every stage but those that only a change or a person ends has a next moment")
  func nothingIsForgotten() {
    let findings: [CandidateFinding] = [
      .unreadable("no"), .openForWriting("a writer"),
      .judged(TrackerBench.verdict(.incomplete), TrackerBench.identity(1), .lease),
      .judged(TrackerBench.verdict(.unsuitable), TrackerBench.identity(1), .lease),
      .judged(TrackerBench.verdict(.failed), TrackerBench.identity(1), .lease),
      .judged(TrackerBench.verdict(.notProvable), TrackerBench.identity(1), .lease),
      .judged(TrackerBench.verdict(.complete), TrackerBench.identity(1), .looks("no")),
    ]
    for finding in findings {
      var bench = TrackerBench(quiet: .zero)
      bench.observe("a.mp4", .changed(closed: true))
      for _ in 0..<30 where bench.state("a.mp4") != .importing {
        if bench.dueNext().isEmpty { continue }
        #expect(bench.tracker.nextDue == nil)
        _ = bench.examined("a.mp4", finding)
        guard bench.state("a.mp4") != .importing else { continue }
        #expect(bench.tracker.nextDue != nil, "\(finding)")
        #expect(bench.report("a.mp4")?.until != nil, "\(finding)")
      }
    }
  }

  @Test("a sidecar is waited for from the last event on")
  func countsSidecarWait() {
    var bench = TrackerBench { $0.sidecarWait = .seconds(30) }
    bench.observe("a.mp4", .changed(closed: true))
    bench.now = .seconds(1)
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete)
    let rest = bench.tracker.sidecarWait(of: TrackerBench.path("a.mp4"), at: bench.moment)
    #expect(rest == .seconds(29))
    bench.imported("a.mp4", .held(reason: "waits", state: .waitingSidecar, upTo: rest))
    #expect(bench.state("a.mp4") == .waitingSidecar)
    #expect(bench.report("a.mp4")?.until == bench.moment.time.advanced(by: .seconds(29)))
    #expect(bench.report("a.mp4")?.evidence.last?.check == .sidecar)
    bench.now = .seconds(30)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .importNow)
    #expect(bench.tracker.sidecarWait(of: TrackerBench.path("a.mp4"), at: bench.moment) == .zero)
  }

  @Test("a sidecar that comes after its export was imported says so")
  func lateSidecar() throws {
    var bench = TrackerBench(quiet: .zero)
    let identifier = try #require(TrackerBench.identifier)
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete)
    bench.imported("a.mp4", .imported(identifier))
    bench.observe("a.mp4.handoff.toml", .changed(closed: true))
    #expect(bench.report("a.mp4.handoff.toml")?.reason?.contains("after its export") == true)
    bench.observe("b.mp4.handoff.toml", .changed(closed: true))
    #expect(bench.report("b.mp4.handoff.toml")?.reason?.contains("after its export") == false)
  }

  @Test("each check has its own moment, and what is still to be checked is listed as such")
  func timesOfChecks() throws {
    var bench = TrackerBench(quiet: .seconds(1)) { $0.proof = .marker }
    let start = bench.moment.time
    bench.observe("a.mp4", .changed(closed: false))
    bench.now = .seconds(3)
    bench.observe("a.mp4", .changed(closed: true))
    let event = bench.moment.time
    let waiting = try #require(bench.report("a.mp4"))
    #expect(waiting.evidence.prefix(2).map(\.check) == [.name, .quiet])
    #expect(waiting.evidence.prefix(2).map(\.passed) == [true, false])
    #expect(waiting.evidence.prefix(2).map(\.since) == [start, event])
    #expect(waiting.evidence.dropFirst(2).allSatisfy { $0.pending == true && !$0.passed })
    #expect(waiting.evidence.last?.check == .proof)
    bench.now = .seconds(4)
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete, beside: .missing("no marker"))
    let found = bench.moment.time
    let held = try #require(bench.report("a.mp4"))
    #expect(
      held.evidence.map(\.check) == [.name, .quiet, .readable, .noWriter, .structure, .proof]
    )
    #expect(held.evidence.map(\.since) == [start, event, found, found, found, found])
    bench.now = bench.tracker.nextDue ?? .zero
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete, beside: .missing("no marker"))
    #expect(bench.report("a.mp4")?.evidence.map(\.since) == held.evidence.map(\.since))
  }
}
