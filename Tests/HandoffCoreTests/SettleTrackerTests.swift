import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("SettleTracker")
struct SettleTrackerTests {
  private let identifier: LocalIdentifier

  init() throws {
    identifier = try #require(TrackerBench.identifier)
  }

  @Test("a file is looked at once it has been quiet, and not before")
  func waitsForQuiet() {
    var bench = TrackerBench()
    bench.observe("a.mp4", .changed(closed: true))
    bench.now = .milliseconds(999)
    #expect(bench.due() == [])
    #expect(bench.state("a.mp4") == .waitingQuiet)
    bench.now = .seconds(1)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.due() == [])
  }

  @Test("many files are told in pages, each once, and counted by state")
  func pages() {
    var bench = TrackerBench()
    let names = (0..<25).map { "clip \($0).mp4" }
    for name in names { bench.observe(name, .changed(closed: true)) }
    bench.observe("clip.part", .changed(closed: true))
    var told: [BytePath] = []
    var isLast = false
    while !isLast {
      let found = bench.tracker.reports(after: told.last, limit: 10)
      #expect(found.page.count <= 10)
      told += found.page.map(\.path)
      isLast = found.isLast
    }
    #expect(told == (names + ["clip.part"]).map(TrackerBench.path).sorted())
    #expect(bench.tracker.stateCounts == [.waitingQuiet: 25, .ignored: 1])
  }

  @Test("each event starts the quiet period again")
  func restartsQuiet() {
    var bench = TrackerBench()
    for step in 0..<5 {
      bench.now = .milliseconds(900 * step)
      #expect(bench.due() == [])
      bench.observe("a.mp4", step.isMultiple(of: 2) ? .changed(closed: true) : .attributes)
    }
    bench.now = .milliseconds(3600 + 999)
    #expect(bench.due() == [])
    bench.now = .milliseconds(3600 + 1000)
    #expect(bench.due() == ["a.mp4"])
  }

  @Test("without a quiet period a closed file is due at once, an open one a little later")
  func looksAtOnce() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("open.mp4", .changed(closed: false))
    #expect(bench.due() == [])
    bench.observe("closed.mp4", .changed(closed: true))
    #expect(bench.due() == ["closed.mp4"])
    bench.now = .milliseconds(250)
    #expect(bench.due() == ["open.mp4"])
  }

  @Test("a whole file with a lease is imported, and then let go of")
  func importsWhole() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .importNow)
    #expect(bench.state("a.mp4") == .importing)
    bench.imported("a.mp4", .imported(identifier))
    #expect(bench.state("a.mp4") == nil)
    #expect(bench.tracker.takeChanges().map(\.state) == [.waitingQuiet, .importing, .imported])
  }

  @Test("a listing of an imported file causes nothing until it changes")
  func remembersImported() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete, version: 1)
    bench.imported("a.mp4", .imported(identifier))
    bench.observe("a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.tracker.sweep([0: (round: 2, unlisted: [])])
    bench.observe("a.mp4", .listed(TrackerBench.identity(1)), round: 3)
    #expect(bench.state("a.mp4") == nil)
    bench.observe("a.mp4", .listed(TrackerBench.identity(2)), round: 4)
    #expect(bench.state("a.mp4") == .waitingQuiet)
  }

  @Test("a file that is open for writing is looked at again with growing waits")
  func asksAgainForWriter() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    var waits: [Duration] = []
    for _ in 0..<7 {
      #expect(bench.due() == ["a.mp4"])
      #expect(bench.examined("a.mp4", .openForWriting("a process")) == .wait)
      #expect(bench.state("a.mp4") == .openForWriting)
      let before = bench.now
      bench.now = bench.tracker.nextDue ?? .zero
      waits.append(bench.now - before)
    }
    #expect(waits == [250, 500, 1000, 2000, 4000, 5000, 5000].map { .milliseconds($0) })
    bench.observe("a.mp4", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
  }

  @Test("an incomplete file is refused after the give-up time, and judged again when it changes")
  func refusesIncomplete() {
    var bench = TrackerBench(quiet: .zero, giveUp: .seconds(20))
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    #expect(bench.judged("a.mp4", .incomplete) == .wait)
    bench.now = .milliseconds(19_999)
    #expect(bench.due() == [])
    #expect(bench.state("a.mp4") == .incomplete)
    bench.now = .seconds(20)
    #expect(bench.due() == [])
    #expect(bench.state("a.mp4") == .refused)
    #expect(bench.tracker.report(for: TrackerBench.path("a.mp4"))?.reason == "no index")
    bench.observe("a.mp4", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete, version: 2) == .importNow)
  }

  @Test("what looks like no video is refused after the long quiet at the latest")
  func refusesUnsuitable() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    #expect(bench.judged("a.mp4", .unsuitable) == .wait)
    #expect(bench.state("a.mp4") == .incomplete)
    bench.now = .seconds(5)
    #expect(bench.due() == [])
    #expect(bench.state("a.mp4") == .refused)
  }

  @Test("a format without an end is imported after a longer quiet, without a second probe")
  func waitsLongerForUnprovable() throws {
    var bench = TrackerBench()
    bench.observe("a.ts", .changed(closed: true))
    bench.now = .seconds(1)
    _ = bench.due()
    #expect(bench.judged("a.ts", .notProvable) == .wait)
    #expect(bench.state("a.ts") == .waitingQuiet)
    bench.now = .milliseconds(4999)
    #expect(bench.due() == [])
    bench.now = .seconds(5)
    let look = try #require(bench.tracker.due(at: bench.moment, limit: 1).first)
    #expect(look.judged?.identity == TrackerBench.identity(1))
    #expect(bench.judged("a.ts", .notProvable) == .importNow)
  }

  @Test("without a lease two equal looks are needed", arguments: [true, false])
  func comparesLooks(isProvable: Bool) {
    let judgement: ProbeVerdict.Judgement = isProvable ? .complete : .notProvable
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    let proof = CandidateFinding.WriterProof.looks("not supported")
    #expect(bench.judged("a.mp4", judgement, version: 1, proof: proof) == .wait)
    bench.now = bench.tracker.nextDue ?? .zero
    #expect(bench.now == (isProvable ? .seconds(5) : .seconds(60)))
    #expect(bench.due() == ["a.mp4"])
    // It has changed without an event: the count starts anew.
    #expect(bench.judged("a.mp4", judgement, version: 2, proof: proof) == .wait)
    bench.now = bench.tracker.nextDue ?? .zero
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", judgement, version: 2, proof: proof) == .importNow)
  }

  @Test("an event during the look makes the look worthless")
  func discardsLook() {
    var bench = TrackerBench()
    bench.observe("a.mp4", .changed(closed: true))
    bench.now = .seconds(1)
    _ = bench.due()
    bench.observe("a.mp4", .changed(closed: false))
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.state("a.mp4") == .waitingQuiet)
    bench.now = .seconds(2)
    #expect(bench.due() == ["a.mp4"])
  }

  @Test("an event during the import makes another look, also after success")
  func looksAgainAfterImport() {
    var bench = TrackerBench()
    bench.observe("a.mp4", .changed(closed: true))
    bench.now = .seconds(1)
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete)
    bench.observe("a.mp4", .changed(closed: true))
    bench.imported("a.mp4", .imported(identifier))
    #expect(bench.state("a.mp4") == .waitingQuiet)
    bench.now = .seconds(2)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.examined("a.mp4", .known(identifier, TrackerBench.identity(1))) == .wait)
    #expect(bench.state("a.mp4") == nil)
  }

  @Test("a failed import that may pass is made again with growing waits and shows why")
  func repeatsImport() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    var waits: [Duration] = []
    for _ in 0..<3 {
      #expect(bench.due() == ["a.mp4"])
      #expect(bench.judged("a.mp4", .complete) == .importNow)
      bench.imported("a.mp4", .failed(reason: "full", state: .noSpace, mayPass: true))
      #expect(bench.state("a.mp4") == .noSpace)
      let before = bench.now
      bench.now = bench.tracker.nextDue ?? .zero
      waits.append(bench.now - before)
    }
    #expect(waits == [.seconds(1), .seconds(2), .seconds(4)])
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete)
    bench.imported("a.mp4", .failed(reason: "two contents", state: .refused, mayPass: false))
    #expect(bench.state("a.mp4") == .refused)
  }

  @Test("a held export is looked at again when its sidecar changes")
  func followsSidecar() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    _ = bench.judged("a.mp4", .complete)
    bench.imported("a.mp4", .held(reason: "no title", state: .waitingSidecar, upTo: nil))
    #expect(bench.state("a.mp4") == .waitingSidecar)
    bench.now = .seconds(59)
    #expect(bench.due() == [])
    bench.observe("a.mp4.handoff.toml", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.state("a.mp4.handoff.toml") == .ignored)
  }

  @Test("a probe that keeps failing refuses the file and is still tried, rarely")
  func refusesUnprobed() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    var states: [CandidateState?] = []
    for _ in 0..<4 {
      #expect(bench.due() == ["a.mp4"])
      #expect(bench.judged("a.mp4", .failed) == .wait)
      states.append(bench.state("a.mp4"))
      bench.now = bench.tracker.nextDue ?? .zero
    }
    #expect(states == [.waitingQuiet, .waitingQuiet, .waitingQuiet, .refused])
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .importNow)
  }

  @Test("what a complete listing has not seen is gone")
  func sweeps() {
    var bench = TrackerBench()
    bench.observe("a.mp4", .listed(TrackerBench.identity(1)), round: 1)
    bench.observe("b.mp4", .listed(TrackerBench.identity(1, inode: 2)), round: 1)
    bench.observe("b.mp4", .listed(TrackerBench.identity(1, inode: 2)), round: 2)
    bench.tracker.sweep([0: (round: 2, unlisted: [])])
    #expect(bench.tracker.reports.map(\.path) == [TrackerBench.path("b.mp4")])
    #expect(bench.tracker.takeChanges().last?.state == .unknown)
  }

  @Test("what is below a place that could not be listed is not taken for gone")
  func sparesUnlisted() {
    var bench = TrackerBench()
    for name in ["a.mp4", "shut/b.mp4", "shut2/c.mp4"] {
      bench.observe(name, .listed(TrackerBench.identity(1)), round: 1)
    }
    let shut = TrackerBench.path("shut")
    bench.tracker.sweep([0: (round: 2, unlisted: [shut]), 1: (round: 9, unlisted: [])])
    #expect(bench.tracker.reports.map(\.path) == [shut.appending("b.mp4")])
  }

  @Test("what is below an unmounted place is let go of without a word")
  func suspendsPlace() {
    var bench = TrackerBench()
    for name in ["m/a.mp4", "m2/b.mp4"] { bench.observe(name, .changed(closed: true)) }
    _ = bench.tracker.takeChanges()
    bench.tracker.suspend(below: [TrackerBench.path("m")])
    #expect(bench.tracker.reports.map(\.path) == [TrackerBench.path("m2/b.mp4")])
    #expect(bench.tracker.takeChanges().isEmpty)
  }

  @Test("a moved directory takes its candidates along, and only those")
  func forgetsDirectory() {
    var bench = TrackerBench()
    for name in ["d/a.mp4", "d/e/b.mp4", "d2/c.mp4"] { bench.observe(name, .changed(closed: true)) }
    bench.tracker.vanished(below: [TrackerBench.path("d")])
    #expect(bench.tracker.reports.map(\.path) == [TrackerBench.path("d2/c.mp4")])
  }

  @Test("an unreadable file says why and is tried again after a change of its mode")
  func showsUnreadable() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    #expect(bench.examined("a.mp4", .unreadable("permission denied, owner 1000")) == .wait)
    #expect(bench.state("a.mp4") == .unreadable)
    bench.observe("a.mp4", .attributes)
    #expect(bench.due() == ["a.mp4"])
  }

  @Test("evidence keeps since when a check has been as it is")
  func keepsSince() throws {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.due()
    _ = bench.examined("a.mp4", .openForWriting("a process"))
    let first = bench.moment.time
    bench.now = .milliseconds(250)
    _ = bench.due()
    _ = bench.examined("a.mp4", .openForWriting("a process"))
    let report = try #require(bench.tracker.report(for: TrackerBench.path("a.mp4")))
    let made = report.evidence.filter { $0.pending != true }
    #expect(made.map(\.check) == [.name, .quiet, .readable, .noWriter])
    #expect(made.last?.since == first)
  }
}
