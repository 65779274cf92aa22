import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("SettleTracker: proofs")
struct SettleTrackerProofTests {
  @Test(
    "a rename proves a file, and a format without an end needs no longer quiet then",
    arguments: [ProbeVerdict.Judgement.complete, .notProvable]
  )
  func renamed(judgement: ProbeVerdict.Judgement) {
    var bench = TrackerBench { $0.proof = .rename }
    bench.observe("a.ts", .renamed(closedSince: false))
    #expect(bench.dueNext() == ["a.ts"])
    #expect(bench.now == .seconds(1))
    #expect(bench.judged("a.ts", judgement) == .importNow)
    #expect(bench.report("a.ts")?.evidence.first { $0.check == .proof }?.passed == true)
  }

  @Test("a file that was written under its final name is held, however whole, until it is renamed")
  func written() {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .rename }
    bench.observe("a.mp4", .changed(closed: false))
    bench.observe("a.mp4", .changed(closed: true))
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.state("a.mp4") == .waitingProof)
    #expect(bench.report("a.mp4")?.reason?.contains("rename") == true)
    // Another look without a change finds the same.
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .wait)
    bench.observe("a.mp4", .renamed(closedSince: false))
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete, version: 2) == .importNow)
  }

  @Test(
    "a close after the rename counts only if nothing was written since",
    arguments: [(modified: Int64(5), isProven: true), (9, false)]
  )
  func closedAfterRename(modified: Int64, isProven: Bool) {
    let merged = CandidateObservation.renamed(closedSince: false)
      .followed(by: .changed(closed: true))
    var bench = TrackerBench(quiet: .zero) { $0.proof = .rename }
    bench.observe("a.mp4", merged)
    _ = bench.dueNext()
    let identity = FileIdentity(device: 1, inode: 1, size: 1, modified: modified, changed: 9)
    let step = bench.examined("a.mp4", .judged(TrackerBench.verdict(.complete), identity, .lease))
    #expect(step == (isProven ? .importNow : .wait))
    #expect(bench.state("a.mp4") == (isProven ? .importing : .waitingProof))
  }

  @Test("after lost events a rename counts only if nothing was written since")
  func lostEvents() {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .rename }
    bench.observe("a.mp4", .renamed(closedSince: false))
    bench.tracker.eventsWereLost()
    bench.observe("a.mp4", .listed(TrackerBench.identity(1)), round: 2)
    _ = bench.dueNext()
    #expect(bench.judged("a.mp4", .complete, version: 1) == .wait)
    #expect(bench.state("a.mp4") == .waitingProof)
  }

  @Test("a listing shows no rename: two equal looks stand in for what shows its end")
  func listedWhole() {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .rename }
    bench.observe("a.mp4", .listed(TrackerBench.identity(1)))
    _ = bench.dueNext()
    let first = bench.now
    #expect(bench.judged("a.mp4", .complete, version: 1) == .wait)
    #expect(bench.state("a.mp4") == .waitingProof)
    #expect(bench.report("a.mp4")?.until == bench.moment.time.advanced(by: .seconds(60)))
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.now == first + .seconds(60))
    // It has changed without an event: the two looks begin anew.
    #expect(bench.judged("a.mp4", .complete, version: 2) == .wait)
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete, version: 2) == .importNow)
  }

  @Test("a listing shows no rename: a format without an end is held for as long as it takes")
  func listedWithoutEnd() {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .rename }
    bench.observe("a.ts", .listed(TrackerBench.identity(1)))
    for _ in 0..<12 {
      #expect(bench.dueNext() == ["a.ts"])
      #expect(bench.judged("a.ts", .notProvable) == .wait)
      #expect(bench.state("a.ts") == .waitingProof)
    }
    #expect(bench.now > .seconds(3600))
    bench.observe("a.ts", .renamed(closedSince: false))
    _ = bench.dueNext()
    #expect(bench.judged("a.ts", .notProvable) == .importNow)
  }

  @Test("where there are no events, the inode under its temporary name shows the rename")
  func polledRename() {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .rename }
    let part = FileIdentity(device: 1, inode: 7, size: 4, modified: 4, changed: 4)
    let renamed = FileIdentity(device: 1, inode: 7, size: 4, modified: 4, changed: 5)
    bench.observe("a.ts.part", .listed(part), round: 1)
    bench.observe("a.ts", .listed(renamed), round: 2)
    bench.observe("b.ts", .listed(TrackerBench.identity(4, inode: 8)), round: 2)
    _ = bench.dueNext()
    let verdict = TrackerBench.verdict(.notProvable)
    #expect(bench.examined("a.ts", .judged(verdict, renamed, .lease)) == .importNow)
    #expect(bench.judged("b.ts", .notProvable, version: 4) == .wait)
    #expect(bench.state("b.ts") == .waitingProof)
  }

  @Test(
    "Case 4: the inode number of a temporary file shows no rename of what has other content",
    arguments: [Int64(0), 3, 4],
    [Int64(2), 9]
  )
  func reusedInode(size: Int64, modified: Int64) {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .rename }
    let lock = FileIdentity(device: 1, inode: 7, size: size, modified: 2, changed: 2)
    let half = FileIdentity(device: 1, inode: 7, size: 5, modified: modified, changed: 9)
    bench.observe("x.lock", .listed(lock), round: 1)
    // The lock is gone, and its inode is another file's, before the next listing.
    bench.observe("y.ts", .listed(half), round: 2)
    _ = bench.dueNext()
    let verdict = TrackerBench.verdict(.notProvable)
    #expect(bench.examined("y.ts", .judged(verdict, half, .lease)) == .wait)
    #expect(bench.state("y.ts") == .waitingProof)
  }

  @Test(
    "the coming of a marker or checksum file goes on at once, also during the look",
    arguments: [".done", ".sha256", ".md5"],
    [true, false]
  )
  func besideArrives(suffix: String, isDuringLook: Bool) {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .marker }
    bench.observe("a.ts", .changed(closed: true))
    #expect(bench.dueNext() == ["a.ts"])
    if isDuringLook { bench.observe("a.ts\(suffix)", .changed(closed: true)) }
    #expect(bench.judged("a.ts", .notProvable, beside: .missing("no marker")) == .wait)
    #expect(bench.state("a.ts") == .waitingProof)
    if !isDuringLook {
      #expect(bench.due() == [])
      bench.observe("a.ts\(suffix)", .changed(closed: true))
    }
    #expect(bench.due() == ["a.ts"])
    #expect(bench.judged("a.ts", .notProvable, beside: .present("there")) == .importNow)
  }

  @Test("bytes that a checksum disproves are not read again until one of the two changes")
  func disproved() throws {
    let checksum = try #require(ContentChecksum(.md5, Array(repeating: 1, count: 16)))
    let other = try #require(ContentChecksum(.md5, Array(repeating: 2, count: 16)))
    var bench = TrackerBench(quiet: .zero) { $0.proof = .checksum }
    bench.observe("a.mp4", .changed(closed: true))
    _ = bench.dueNext()
    #expect(bench.judged("a.mp4", .complete, beside: .claimed(checksum)) == .importNow)
    bench.imported("a.mp4", .held(reason: "they differ", state: .waitingProof, upTo: nil))
    #expect(bench.state("a.mp4") == .waitingProof)
    for _ in 0..<5 {
      #expect(bench.dueNext() == ["a.mp4"])
      #expect(bench.judged("a.mp4", .complete, beside: .claimed(checksum)) == .wait)
      #expect(bench.report("a.mp4")?.reason == "they differ")
    }
    bench.observe("a.mp4.md5", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete, beside: .claimed(other)) == .importNow)
  }

  @Test(
    "with a marker and without a lease two equal looks are still needed, but the short pause does"
  )
  func markerWithoutLease() {
    var bench = TrackerBench(quiet: .zero) { $0.proof = .marker }
    bench.observe("a.ts", .changed(closed: true))
    _ = bench.dueNext()
    let looks = CandidateFinding.WriterProof.looks("not supported")
    #expect(
      bench.judged("a.ts", .notProvable, proof: looks, beside: .present("there")) == .wait
    )
    #expect(bench.dueNext() == ["a.ts"])
    #expect(bench.now == .seconds(5))
    #expect(
      bench.judged("a.ts", .notProvable, proof: looks, beside: .present("there")) == .importNow
    )
  }
}
