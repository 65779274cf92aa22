import HandoffCore
import HandoffProtocol
import Paths
import Testing

/// What is still on its way into a package (case 73 of the collected faults).
@Suite("Packages whose next file is on its way")
struct PackageTransferTests {
  private let identifier: LocalIdentifier

  init() throws {
    identifier = try #require(TrackerBench.identifier)
  }

  private func bench() -> TrackerBench {
    var bench = TrackerBench { $0.package = true }
    bench.tracker.sweep([0: (round: 1, unlisted: [])])
    return bench
  }

  private func reason(_ bench: TrackerBench, _ name: String) -> String? {
    bench.tracker.report(for: TrackerBench.path(name))?.reason
  }

  /// An identity whose inode was changed this long before the bench's clock began.
  private func identity(age: Duration) -> FileIdentity {
    let changed = TrackerBench().moment.time.advanced(by: .zero - age).milliseconds * 1_000_000
    return FileIdentity(device: 1, inode: 9, size: 1, modified: changed, changed: changed)
  }

  @Test(
    "Case 73: a member waits while another grows under a temporary name, and until it has its own"
  )
  func transfer() {
    var bench = bench()
    bench.observe("job/a.mp4", .renamed(closedSince: false))
    bench.observe("job/.z.mp4.AbC123", .changed(closed: false))
    bench.now = .seconds(5)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    #expect(bench.state("job/a.mp4") == .waitingPackage)
    #expect(reason(bench, "job/a.mp4")?.contains(".z.mp4.AbC123 is not complete") == true)
    // It is looked at again in the end: written to a second ago, it goes on.
    bench.now = .seconds(600)
    #expect(bench.due() == [".z.mp4.AbC123"])
    let path = TrackerBench.path("job/.z.mp4.AbC123")
    bench.tracker.transferSeen(path, identity(age: .seconds(-599)), at: bench.moment)
    #expect(bench.due() == [])
    // The two halves of its rename come apart.
    bench.observe("job/.z.mp4.AbC123", .vanished)
    #expect(bench.due() == [])
    bench.observe("job/z.mp4", .renamed(closedSince: false))
    bench.now += .seconds(2)
    #expect(Set(bench.due()) == ["a.mp4", "z.mp4"])
    #expect(bench.judged("job/z.mp4", .complete) == .importNow)
    #expect(bench.judged("job/a.mp4", .complete) == .importNow)
  }

  @Test(
    "a transfer that nobody goes on with holds its package for give_up",
    arguments: [true, false]
  )
  func abandoned(isListed: Bool) {
    var bench = bench()
    bench.observe("job/a.mp4", .changed(closed: true))
    if isListed {
      // It is old when it is listed for the first time.
      bench.observe("job/b.mp4.part", .listed(identity(age: .seconds(601))))
      bench.now = .seconds(2)
    } else {
      bench.observe("job/b.mp4.part", .changed(closed: false))
      bench.now = .seconds(600)
      #expect(Set(bench.due()) == ["a.mp4", "b.mp4.part"])
      #expect(bench.judged("job/a.mp4", .complete) == .wait)
      let path = TrackerBench.path("job/b.mp4.part")
      bench.tracker.transferSeen(path, identity(age: .zero), at: bench.moment)
    }
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .importNow)
  }

  @Test("what systems and editors keep beside exports is not waited for")
  func sideFiles() {
    var bench = bench()
    let names = [
      ".DS_Store", "._a.mp4", "Thumbs.db", ".directory", "~$notes.docx", "a.srt", "a.mp4~",
    ]
    for name in names + ["a.mp4"] { bench.observe("job/\(name)", .changed(closed: true)) }
    bench.now = .seconds(2)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .importNow)
  }

  @Test("where only listings tell, one that began after the quiet has to have shown nothing new")
  func polled() {
    var bench = bench()
    func list(_ round: UInt32, from begun: Duration, _ names: [String]) {
      for name in names {
        bench.observe("job/\(name)", .listed(TrackerBench.identity(1)), round: round)
      }
      bench.tracker.listed(folder: 0, begun: begun, isPolled: true)
      bench.tracker.sweep([0: (round: round, unlisted: [])])
    }
    bench.now = .seconds(10)
    list(2, from: .milliseconds(9_900), ["a.mp4"])
    bench.now = .seconds(12)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    #expect(bench.state("job/a.mp4") == .waitingPackage)
    // It began too early.
    list(3, from: .milliseconds(10_100), ["a.mp4"])
    #expect(bench.due() == [])
    bench.now = .seconds(15)
    list(4, from: .milliseconds(14_900), ["a.mp4", "z.mp4"])
    bench.now = .seconds(17)
    #expect(bench.due() == ["z.mp4"])
    #expect(bench.judged("job/z.mp4", .complete) == .wait)
    bench.now = .seconds(20)
    list(5, from: .milliseconds(19_900), ["a.mp4", "z.mp4"])
    #expect(Set(bench.due()) == ["a.mp4", "z.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .importNow)
    #expect(bench.judged("job/z.mp4", .complete) == .importNow)
  }

  @Test("nothing of a directory with a temporary name is taken before it is renamed")
  func directory() {
    var bench = bench()
    for name in ["job.part/a.mp4", "other/a.mp4", "other/deep.part/b.mp4"] {
      bench.observe(name, .changed(closed: true))
    }
    bench.now = .seconds(50)
    #expect(bench.due().count == 3)
    for name in ["job.part/a.mp4", "other/deep.part/b.mp4", "other/a.mp4"] {
      #expect(bench.judged(name, .complete) == .wait)
    }
    #expect(bench.state("job.part/a.mp4") == .incomplete)
    #expect(reason(bench, "job.part/a.mp4")?.contains("job.part is a temporary name") == true)
    #expect(bench.state("other/a.mp4") == .waitingPackage)
    bench.now = .seconds(5_000)
    #expect(bench.due() == [])
    bench.tracker.vanished(below: [TrackerBench.path("job.part")])
    bench.observe("job/a.mp4", .renamed(closedSince: false))
    bench.now += .seconds(1)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .importNow)
  }
}
