import HandoffCore
import HandoffProtocol
import Paths
import Testing

/// `prefer` (case 51 of the collected faults).
@Suite("Preference among containers")
struct PreferenceTests {
  private let identifier: LocalIdentifier

  init() throws {
    identifier = try #require(TrackerBench.identifier)
  }

  private func bench() -> TrackerBench {
    TrackerBench {
      $0.prefer = ["mp4", "mov"]
      $0.preferWait = .seconds(60)
    }
  }

  private func reason(_ bench: TrackerBench, _ name: String) -> String? {
    bench.tracker.report(for: TrackerBench.path(name))?.reason
  }

  /// Lets a file come, be quiet and be judged whole.
  private func settle(_ bench: inout TrackerBench, _ name: String) -> CandidateStep {
    bench.observe(name, .changed(closed: true))
    bench.now += .seconds(1)
    #expect(bench.due().contains(name))
    return bench.judged(name, .complete)
  }

  @Test(
    "the paths that are better, best first",
    arguments: [
      ("/d/rec.mkv", ["rec.mp4", "rec.MP4", "rec.mov", "rec.MOV"]),
      ("/d/rec.mov", ["rec.mp4", "rec.MP4"]), ("/d/rec.MP4", []), ("/d/rec", ["rec.mp4"]),
    ]
  )
  func better(path: String, first: [String]) throws {
    var settings = DropFolderSettings(path: "/d")
    settings.prefer = ["mp4", "mov"]
    let preference = try #require(ContainerPreference(settings))
    let names = preference.better(than: BytePath(path)).map(\.lastComponent.lossyText)
    #expect(names.prefix(first.count).elementsEqual(first))
    #expect(names.isEmpty == first.isEmpty)
  }

  @Test("Case 51: the most preferred one is imported at once")
  func best() {
    var bench = bench()
    #expect(settle(&bench, "rec.mp4") == .importNow)
  }

  @Test("Case 51: a recording waits for its remux, and is left when that is imported")
  func remux() {
    var bench = bench()
    #expect(settle(&bench, "rec.mkv") == .wait)
    #expect(bench.state("rec.mkv") == .waitingQuiet)
    #expect(reason(bench, "rec.mkv")?.contains("prefer_wait") == true)
    bench.now = .seconds(30)
    bench.observe("rec.mp4", .changed(closed: false))
    bench.now = .seconds(61)
    #expect(bench.due() == ["rec.mp4", "rec.mkv"])
    #expect(bench.examined("rec.mp4", .openForWriting("a process")) == .wait)
    // The wait is over, but the better one is there and is not finished.
    #expect(bench.judged("rec.mkv", .complete) == .wait)
    #expect(reason(bench, "rec.mkv") == "rec.mp4 is preferred, and is not finished yet")
    bench.observe("rec.mp4", .changed(closed: true))
    bench.now = .seconds(62)
    #expect(bench.due() == ["rec.mp4"])
    #expect(bench.judged("rec.mp4", .complete) == .importNow)
    bench.imported("rec.mp4", .imported(identifier))
    #expect(bench.due() == ["rec.mkv"])
    let finding = CandidateFinding.outdone(
      by: TrackerBench.path("rec.mp4"),
      TrackerBench.identity(1)
    )
    #expect(bench.examined("rec.mkv", finding) == .wait)
    #expect(bench.state("rec.mkv") == .ignored)
    #expect(reason(bench, "rec.mkv") == "rec.mp4 was preferred")
    bench.now = .seconds(100_000)
    #expect(bench.due() == [])
  }

  @Test("Case 51: a better one that was imported while this was examined is taken instead")
  func meanwhile() {
    var bench = bench()
    bench.observe("rec.mkv", .changed(closed: true))
    bench.observe("rec.mp4", .changed(closed: true))
    bench.now += .seconds(1)
    #expect(bench.due().count == 2)
    #expect(bench.judged("rec.mp4", .complete) == .importNow)
    bench.imported("rec.mp4", .imported(identifier))
    #expect(bench.judged("rec.mkv", .complete) == .wait)
    #expect(bench.state("rec.mkv") == .ignored)
    // Once that is gone, the ledger is asked.
    bench.observe("rec.mp4", .vanished)
    #expect(bench.due() == ["rec.mkv"])
  }

  @Test("Case 51: a recording that is newer than an imported better one is not left for it")
  func newer() {
    var bench = bench()
    #expect(settle(&bench, "rec.mp4") == .importNow)
    bench.imported("rec.mp4", .imported(identifier))
    bench.now += .seconds(1)
    #expect(settle(&bench, "rec.mkv") == .wait)
    #expect(bench.state("rec.mkv") == .waitingQuiet)
    #expect(reason(bench, "rec.mkv")?.contains("prefer_wait") == true)
    bench.now += .seconds(60)
    #expect(bench.due() == ["rec.mkv"])
    #expect(bench.judged("rec.mkv", .complete) == .importNow)
  }

  @Test("Case 51: with no remux the recording is imported in the end")
  func alone() {
    var bench = bench()
    #expect(settle(&bench, "rec.mkv") == .wait)
    bench.now = .milliseconds(59_999)
    #expect(bench.due() == [])
    bench.now = .seconds(60)
    #expect(bench.due() == ["rec.mkv"])
    #expect(bench.judged("rec.mkv", .complete) == .importNow)
  }

  @Test(
    "Case 51: when the remux is refused or removed, the recording goes on",
    arguments: [true, false]
  )
  func failed(isRemoved: Bool) {
    var bench = bench()
    #expect(settle(&bench, "rec.mkv") == .wait)
    bench.observe("rec.mp4", .changed(closed: true))
    bench.now = .seconds(61)
    #expect(bench.due().count == 2)
    #expect(bench.judged("rec.mp4", .incomplete) == .wait)
    #expect(bench.judged("rec.mkv", .complete) == .wait)
    if isRemoved {
      bench.observe("rec.mp4", .vanished)
    } else {
      bench.now = .seconds(61 + 600)
    }
    #expect(bench.due() == ["rec.mkv"])
    #expect(bench.state("rec.mp4") == (isRemoved ? nil : .refused))
    #expect(bench.judged("rec.mkv", .complete) == .importNow)
  }

  @Test("Case 51: a remux into the same container is better")
  func sameContainer() {
    var bench = bench()
    bench.observe("rec.mp4", .changed(closed: true))
    bench.observe("rec.remuxed.mp4", .changed(closed: false))
    bench.now = .seconds(1)
    #expect(bench.due().contains("rec.mp4"))
    // It is the most preferred container, but the remux has begun.
    #expect(bench.judged("rec.mp4", .complete) == .wait)
    #expect(reason(bench, "rec.mp4") == "rec.remuxed.mp4 is preferred, and is not finished yet")
    #expect(bench.judged("rec.remuxed.mp4", .complete) == .importNow)
  }

  @Test(
    "Case 51: removal during the import is told as such, whoever notices it first",
    arguments: [true, false]
  )
  func removedDuringImport(isEventFirst: Bool) {
    var bench = TrackerBench()
    #expect(settle(&bench, "rec.mkv") == .importNow)
    if isEventFirst { bench.observe("rec.mkv", .vanished) }
    bench.imported("rec.mkv", .changed)
    if !isEventFirst { bench.observe("rec.mkv", .vanished) }
    #expect(bench.state("rec.mkv") == nil)
    let told = bench.tracker.takeChanges().last
    #expect(told?.state == .unknown)
    #expect(told?.reason == "source removed during its import, which was given up")
  }

  @Test("Case 51: what goes away after a change that was told of is only gone")
  func removedLater() {
    var bench = TrackerBench()
    #expect(settle(&bench, "rec.mkv") == .importNow)
    bench.imported("rec.mkv", .changed)
    bench.observe("rec.mkv", .changed(closed: true))
    bench.observe("rec.mkv", .vanished)
    #expect(bench.tracker.takeChanges().last?.reason == "the file is gone")
  }
}
