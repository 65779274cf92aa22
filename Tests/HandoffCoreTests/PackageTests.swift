import HandoffCore
import HandoffProtocol
import Paths
import Testing

/// `package = true` (case 73 of the collected faults).
@Suite("Packages in the settle tracker")
struct PackageTests {
  private let identifier: LocalIdentifier
  private let other: LocalIdentifier

  init() throws {
    identifier = try #require(TrackerBench.identifier)
    other = try #require(LocalIdentifier("69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E2F"))
  }

  private func bench() -> TrackerBench {
    TrackerBench { $0.package = true }
  }

  /// Lets files come that have been listed completely, and be quiet.
  private func arrive(_ names: [String], in bench: inout TrackerBench) {
    for name in names { bench.observe(name, .changed(closed: true)) }
    bench.tracker.sweep([0: (round: 1, unlisted: [])])
    bench.now += .seconds(1)
  }

  /// A member of the package comes, is proven finished and imported; nothing else is due then.
  private func gather(
    _ name: String,
    _ identifier: LocalIdentifier,
    in bench: inout TrackerBench
  ) {
    arrive(["job/\(name)"], in: &bench)
    #expect(bench.due() == ["\(name)"])
    take("job/\(name)", identifier, in: &bench)
    #expect(bench.due() == [])
  }

  private func take(_ name: String, _ identifier: LocalIdentifier, in bench: inout TrackerBench) {
    #expect(bench.judged(name, .complete) == .importNow)
    bench.imported(name, .imported(identifier))
  }

  private func report(_ bench: TrackerBench, _ name: String) -> CandidateReport? {
    bench.tracker.report(for: TrackerBench.path(name))
  }

  @Test("Case 73: a package with a place that could not be listed waits until it could")
  func waitsForPlace() {
    var bench = bench()
    for name in ["job/a.mp4", "next/a.mp4"] { bench.observe(name, .changed(closed: true)) }
    let shut = TrackerBench.path("job/shut")
    bench.tracker.sweep([0: (round: 1, unlisted: [shut])])
    bench.now += .seconds(1)
    #expect(bench.due() == ["a.mp4", "a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    #expect(bench.state("job/a.mp4") == .waitingPackage)
    take("next/a.mp4", other, in: &bench)
    bench.observe("job/a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.observe("next/a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.tracker.sweep([0: (round: 2, unlisted: [])])
    bench.now += .seconds(1)
    #expect(bench.due().contains("a.mp4"))
    take("job/a.mp4", identifier, in: &bench)
  }

  @Test("Case 73: nothing is imported before every member is finished, and then all are")
  func gathers() {
    var bench = bench()
    arrive(["job/a.mp4", "job/deep/b.mp4"], in: &bench)
    #expect(bench.due() == ["a.mp4", "b.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    #expect(bench.examined("job/deep/b.mp4", .openForWriting("a process")) == .wait)
    #expect(bench.state("job/a.mp4") == .waitingPackage)
    #expect(
      report(bench, "job/a.mp4")?.reason
        == "waits for the rest of the package job: deep/b.mp4 is open_for_writing (a process)"
    )
    bench.now += .milliseconds(250)
    #expect(bench.due() == ["b.mp4"])
    take("job/deep/b.mp4", other, in: &bench)
    #expect(bench.tracker.takePackages().isEmpty)
    #expect(bench.due() == ["a.mp4"])
    take("job/a.mp4", identifier, in: &bench)
    #expect(bench.due() == [])
    let arrivals = bench.tracker.takePackages()
    #expect(arrivals.map(\.path) == [TrackerBench.path("job")])
    #expect(arrivals.first?.localIdentifiers == [identifier, other])
    bench.tracker.packaged(TrackerBench.path("job"), .recorded, at: bench.moment)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().isEmpty)
    #expect(report(bench, "job")?.state == .imported)
    #expect(bench.tracker.reports.isEmpty)
  }

  @Test("a change in the package starts its quiet period again")
  func restarts() {
    var bench = bench()
    arrive(["job/a.mp4"], in: &bench)
    bench.observe("job/b.mp4", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    bench.now = .milliseconds(1999)
    #expect(bench.due() == [])
    bench.now = .seconds(2)
    #expect(bench.due() == ["b.mp4"])
    take("job/b.mp4", other, in: &bench)
    #expect(bench.due() == ["a.mp4"])
  }

  @Test("a folder that is not listed completely yet has no package")
  func waitsForListing() {
    var bench = bench()
    bench.observe("job/a.mp4", .listed(TrackerBench.identity(1)))
    bench.now = .seconds(5)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    bench.now = .seconds(50)
    #expect(bench.due() == [])
    bench.tracker.sweep([0: (round: 1, unlisted: [])])
    #expect(bench.due() == ["a.mp4"])
    take("job/a.mp4", identifier, in: &bench)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().count == 1)
  }

  @Test("a place in it that cannot be listed holds a package, one elsewhere does not")
  func unlistedPlace() {
    var bench = bench()
    for name in ["job/a.mp4", "other/b.mp4"] { bench.observe(name, .changed(closed: true)) }
    let shut = TrackerBench.path("job/shut")
    bench.tracker.sweep([0: (round: 1, unlisted: [shut])])
    bench.now = .seconds(1)
    #expect(bench.due() == ["a.mp4", "b.mp4"])
    take("other/b.mp4", other, in: &bench)
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    #expect(
      report(bench, "job/a.mp4")?.reason == "not everything in job could be listed yet"
    )
    bench.now = .seconds(10)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().map(\.path) == [TrackerBench.path("other")])
    bench.observe("job/a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.observe("other/b.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.tracker.sweep([0: (round: 2, unlisted: [])])
    #expect(bench.due() == ["a.mp4"])
    take("job/a.mp4", identifier, in: &bench)
  }

  @Test("a place that an event meets and that cannot be listed holds its package at once")
  func unlistedByEvent() {
    var bench = bench()
    arrive(["first/a.mp4"], in: &bench)
    bench.observe("job/a.mp4", .changed(closed: true))
    bench.tracker.couldNotList([TrackerBench.path("job/shut")], in: 0)
    bench.now += .seconds(2)
    #expect(bench.due() == ["a.mp4", "a.mp4"])
    take("first/a.mp4", other, in: &bench)
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    #expect(bench.state("job/a.mp4") == .waitingPackage)
    bench.observe("job/a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.observe("first/a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.tracker.sweep([0: (round: 2, unlisted: [])])
    bench.now += .seconds(1)
    #expect(bench.due().contains("a.mp4"))
    take("job/a.mp4", identifier, in: &bench)
  }

  @Test("a package that is held when its folder goes is told again once the folder is back")
  func folderReturns() {
    var bench = bench()
    gather("a.mp4", identifier, in: &bench)
    #expect(bench.tracker.takePackages().count == 1)
    let held = PackageOutcome.held(reason: "its sidecar", state: .waitingSidecar, upTo: nil)
    bench.tracker.packaged(TrackerBench.path("job"), held, at: bench.moment)
    bench.tracker.suspend(folder: 0)
    bench.observe("job/a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.tracker.sweep([0: (round: 2, unlisted: [])])
    bench.now += .seconds(1)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.examined("job/a.mp4", .known(identifier, TrackerBench.identity(1))) == .wait)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().first?.localIdentifiers == [identifier])
  }

  @Test("a package below a file system that goes and comes back is told again")
  func mountReturns() {
    var bench = bench()
    gather("a.mp4", identifier, in: &bench)
    #expect(bench.tracker.takePackages().count == 1)
    bench.tracker.suspend(below: [TrackerBench.path("job")])
    #expect(report(bench, "job") == nil)
    bench.observe("job/a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    bench.tracker.sweep([0: (round: 2, unlisted: [])])
    bench.now += .seconds(1)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.examined("job/a.mp4", .known(identifier, TrackerBench.identity(1))) == .wait)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().count == 1)
  }

  @Test("what lies directly in the folder is a unit of its own")
  func single() {
    var bench = bench()
    bench.observe("a.mp4", .changed(closed: true))
    bench.now = .seconds(1)
    #expect(bench.due() == ["a.mp4"])
    take("a.mp4", identifier, in: &bench)
    #expect(bench.tracker.takePackages().isEmpty)
  }

  @Test(
    "a refused member holds the package until it is removed or ignored names are all that is left"
  )
  func refusedMember() {
    var bench = bench()
    arrive(["job/a.mp4", "job/b.mp4", "job/.DS_Store", "job/notes.txt"], in: &bench)
    #expect(bench.due() == ["a.mp4", "b.mp4"])
    #expect(bench.judged("job/a.mp4", .complete) == .wait)
    #expect(bench.judged("job/b.mp4", .incomplete) == .wait)
    bench.now += .seconds(600)
    #expect(bench.due() == [])
    #expect(bench.state("job/b.mp4") == .refused)
    #expect(report(bench, "job/a.mp4")?.reason?.contains("b.mp4 is refused (no index)") == true)
    #expect(report(bench, "job")?.state == .waitingPackage)
    bench.observe("job/b.mp4", .vanished)
    #expect(bench.due() == ["a.mp4"])
    take("job/a.mp4", identifier, in: &bench)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().first?.localIdentifiers == [identifier])
  }

  @Test("after a restart, members that are known and the rest make one whole")
  func known() {
    var bench = bench()
    bench.observe("job/a.mp4", .listed(TrackerBench.identity(1)))
    bench.observe("job/b.mp4", .listed(TrackerBench.identity(1)))
    bench.tracker.sweep([0: (round: 1, unlisted: [])])
    bench.now = .seconds(1)
    #expect(bench.due() == ["a.mp4", "b.mp4"])
    #expect(bench.examined("job/a.mp4", .known(identifier, TrackerBench.identity(1))) == .wait)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().isEmpty)
    take("job/b.mp4", other, in: &bench)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().first?.localIdentifiers == [identifier, other])
  }

  @Test("a package that changes is told again with its new set, an unchanged one is not")
  func changes() {
    var bench = bench()
    gather("a.mp4", identifier, in: &bench)
    #expect(bench.tracker.takePackages().count == 1)
    bench.tracker.packaged(TrackerBench.path("job"), .recorded, at: bench.moment)
    bench.observe("job/a.mp4", .attributes)
    bench.now += .seconds(1)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.examined("job/a.mp4", .known(identifier, TrackerBench.identity(1))) == .wait)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().isEmpty)
    gather("b.mp4", other, in: &bench)
    #expect(bench.tracker.takePackages().first?.localIdentifiers == [identifier, other])
  }

  @Test("one that is refused is shown, and one that is held goes on with its sidecar")
  func outcomes() {
    var bench = bench()
    gather("a.mp4", identifier, in: &bench)
    _ = bench.tracker.takePackages()
    let path = TrackerBench.path("job")
    let held = PackageOutcome.held(reason: "invalid", state: .waitingSidecar, upTo: nil)
    bench.tracker.packaged(path, held, at: bench.moment)
    #expect(report(bench, "job")?.state == .waitingSidecar)
    bench.observe("job.handoff.toml", .changed(closed: true))
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().count == 1)
    bench.tracker.packaged(path, .refused("too large"), at: bench.moment)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().isEmpty)
    #expect(bench.tracker.reports.contains { $0.path == path && $0.state == .refused })
    let again = bench.tracker.judgeAgain(path, at: bench.moment)
    #expect(again)
    #expect(bench.due() == [])
    #expect(bench.tracker.takePackages().count == 1)
  }

  @Test("a package that is moved away is forgotten, and a folder that is lost knows none")
  func forgets() {
    var bench = bench()
    arrive(["job/a.mp4", "job/b.mp4"], in: &bench)
    #expect(bench.due() == ["a.mp4", "b.mp4"])
    #expect(bench.judged("job/b.mp4", .complete) == .wait)
    take("job/a.mp4", identifier, in: &bench)
    bench.tracker.vanished(below: [TrackerBench.path("job")])
    #expect(report(bench, "job") == nil)
    #expect(bench.tracker.takePackages().isEmpty)
    arrive(["other/a.mp4"], in: &bench)
    bench.tracker.suspend(folder: 0)
    #expect(report(bench, "other") == nil)
  }

  @Test("among nested folders the deepest decides: a drop folder inside a package is no part of it")
  func nested() {
    var outer = DropFolderSettings(path: TrackerBench.folder)
    outer.package = true
    let inner = DropFolderSettings(path: TrackerBench.path("job/inner"))
    var tracker = SettleTracker([outer, inner])
    let bench = TrackerBench()
    let path = TrackerBench.path("job/inner/deep/a.mp4")
    tracker.observe(path, in: 1, .changed(closed: true), round: 1, at: bench.moment)
    var later = bench.moment
    later.elapsed = .seconds(1)
    #expect(tracker.due(at: later, limit: 9).map(\.path) == [path])
    let finding = CandidateFinding.judged(
      TrackerBench.verdict(.complete),
      TrackerBench.identity(1),
      .lease
    )
    #expect(tracker.examined(path, finding, at: later) == .importNow)
    #expect([outer, inner].deepest(holding: path)?.packageDirectory(of: path) == nil)
    #expect(outer.packageDirectory(of: TrackerBench.path("job/a.mp4")) == TrackerBench.path("job"))
    #expect(outer.packageDirectory(of: TrackerBench.path("a.mp4")) == nil)
  }

  @Test("with a preference the raw recording in a package is left, and waits for nothing")
  func preferenceInside() {
    var bench = TrackerBench {
      $0.package = true
      $0.prefer = ["mp4"]
    }
    arrive(["job/rec.mkv", "job/rec.mp4"], in: &bench)
    #expect(bench.due() == ["rec.mkv", "rec.mp4"])
    #expect(bench.judged("job/rec.mkv", .complete) == .wait)
    #expect(bench.judged("job/rec.mp4", .complete) == .wait)
    #expect(bench.state("job/rec.mp4") == .waitingPackage)
    #expect(bench.due() == ["rec.mkv"])
    #expect(bench.judged("job/rec.mkv", .complete) == .wait)
    #expect(bench.state("job/rec.mkv") == .ignored)
    #expect(bench.due() == ["rec.mp4"])
    take("job/rec.mp4", identifier, in: &bench)
  }
}
