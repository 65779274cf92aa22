import HandoffCore
import HandoffProtocol
import Paths
import Testing

@Suite("WriterProfile")
struct WriterProfileTests {
  @Test(
    "Case 5: a scratch file is ignored with its writer and pattern",
    arguments: [
      (".d.mp4.AbC123", "a temporary name of rsync: .*.??????"),
      ("e.mp4.tmp", "a temporary name of SRS: *.mp4.tmp"),
      ("e.mov.tmp", "a temporary name of many programs: *.tmp"),
      ("f.mp4.crdownload", "a temporary name of Chrome and Edge: *.crdownload"),
      ("g.mp4.part", "a temporary name of Firefox, yt-dlp, Transmission, many programs: *.part"),
      ("IMG.MOV.ocTransferId1548366895.part", "Nextcloud and ownCloud: *.octransferid*.part"),
      ("h.mp4.7c0a2b1f.partial", "Internet Explorer, rclone, many programs: *.partial"),
      ("i.mp4.FILEPART", "a temporary name of WinSCP: *.filepart"),
      ("~h.mp4", "a temporary name of many programs: ~*"),
      (".syncthing.a.mp4.tmp", "a temporary name of Syncthing: .syncthing.*"),
      ("a.mp4.!sync", "a temporary name of Resilio Sync: *.!sync"),
      ("a.mkv.!qB", "a temporary name of qBittorrent: *.!qb"),
      ("a.mp4.aria2", "a temporary name of aria2: *.aria2"),
      (".hidden", "a temporary name of many programs: .*"),
    ]
  )
  func names(name: String, reason: String) {
    let found = TemporaryNames().reason(for: BytePath(name))
    #expect(found?.hasSuffix(reason) == true, "\(found ?? "nothing")")
  }

  @Test(
    "Case 20: side files of macOS are named as such",
    arguments: [
      "._a.mp4", "._a.cut.mp4", ".DS_Store", ".smbdeleteAAA1f0b", "a.mov.sb-515b24a2-00Ug5l",
    ]
  )
  func macOS(name: String) {
    let found = TemporaryNames().reason(for: BytePath(name))
    #expect(found?.hasPrefix("a temporary name of macOS: ") == true, "\(found ?? "nothing")")
  }

  @Test(
    "Case 20: system folders are not looked into",
    arguments: [
      (".AppleDouble", "macOS"), (".Trashes", "macOS"), ("@eaDir", "Synology"),
      (".stversions", "Syncthing"), (".sync", "Resilio Sync"), ("$RECYCLE.BIN", "Windows"),
      ("_UNPACK_show", "SABnzbd"), (".git", "many programs"), ("a.mov.sb-515b24a2-00Ug5l", "macOS"),
    ]
  )
  func folders(name: String, writer: String) {
    let found = TemporaryNames().reason(forFolder: BytePath(name))
    #expect(found?.hasPrefix("a folder of \(writer): ") == true, "\(found ?? "nothing")")
  }

  @Test(
    "temporary names of several brokers are ignored",
    arguments: [".handoff-move-1f2e3d", ".handoff-remove-fd00-1234"]
  )
  func brokers(name: String) {
    let found = TemporaryNames().reason(for: BytePath(name))
    #expect(found == "a temporary name of Handoff: .handoff-*")
  }

  @Test("every built-in writer has a name of its own and says something")
  func wellFormed() {
    let profiles = WriterProfile.builtIn
    #expect(Set(profiles.map(\.name)).count == profiles.count)
    for profile in profiles {
      let isEmpty =
        profile.temporary.isEmpty && profile.folders.isEmpty && profile.unfinished.isEmpty
        && profile.remuxed.isEmpty && profile.names.isEmpty
      #expect(!isEmpty, "\(profile.name)")
      #expect((profile.quiet == nil) == profile.names.isEmpty, "\(profile.name)")
    }
  }

  @Test("one of the configuration takes the place of a built-in one of its name, others come first")
  func replaces() {
    let mine = [WriterProfile("rsync"), WriterProfile("encoder", temporary: ["*.encoding"])]
    let names = TemporaryNames(writers: WriterProfile.builtIn.replaced(by: mine))
    #expect(names.reason(for: ".d.mp4.AbC123") == "a temporary name of many programs: .*")
    #expect(names.reason(for: "a.mp4.encoding") == "a temporary name of encoder: *.encoding")
  }

  @Test("a writer that opens its files again is waited for longer, and the evidence says so")
  func patience() {
    var master = WriterProfile("grading")
    master.names = ["*.master.mov"]
    master.quiet = .seconds(10)
    var bench = TrackerBench { $0.writers = [master] }
    bench.observe("a.master.MOV", .changed(closed: true))
    bench.observe("b.mov", .changed(closed: true))
    bench.now = .seconds(1)
    #expect(bench.due() == ["b.mov"])
    bench.now = .milliseconds(9999)
    #expect(bench.due() == [])
    bench.now = .seconds(10)
    #expect(bench.due() == ["a.master.MOV"])
    _ = bench.judged("a.master.MOV", .incomplete)
    let path = TrackerBench.path("a.master.MOV")
    let quiet = bench.tracker.report(for: path)?.evidence.first { $0.check == .quiet }
    #expect(quiet?.detail.contains("grading opens its files again") == true)
  }

  @Test("a download whose control file lies beside it is not finished")
  func controlFile() {
    var bench = TrackerBench(quiet: .zero)
    bench.observe("a.mp4", .changed(closed: true))
    bench.observe("a.mp4.aria2", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.state("a.mp4") == .incomplete)
    let reason = bench.tracker.report(for: TrackerBench.path("a.mp4"))?.reason
    #expect(reason == "aria2 has not finished it: a.mp4.aria2 lies beside it")
    bench.now = .seconds(599)
    #expect(bench.due() == [])
    bench.observe("a.mp4.aria2", .vanished)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .importNow)
  }

  @Test("a control file that is left over refuses its export, until one of the two changes")
  func leftControlFile() {
    var bench = TrackerBench(quiet: .zero, giveUp: .seconds(2))
    bench.observe("a.mp4.aria2", .listed(TrackerBench.identity(1)))
    bench.observe("a.mp4", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.report("a.mp4")?.until == bench.moment.time.advanced(by: .seconds(2)))
    // Its download goes on: the wait begins anew.
    bench.now = .seconds(1)
    bench.observe("a.mp4.aria2", .listed(TrackerBench.identity(2)), round: 2)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.dueNext() == ["a.mp4"])
    #expect(bench.now == .seconds(3))
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.state("a.mp4") == .refused)
    #expect(
      bench.report("a.mp4")?.reason == "aria2 has not finished it: a.mp4.aria2 lies beside it"
    )
    bench.observe("a.mp4.aria2", .listed(TrackerBench.identity(2)), round: 3)
    #expect(bench.due() == [])
    bench.observe("a.mp4.aria2", .changed(closed: true))
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.state("a.mp4") == .incomplete)
    bench.now = .seconds(5)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .wait)
    #expect(bench.state("a.mp4") == .refused)
    bench.observe("a.mp4.aria2", .vanished)
    #expect(bench.due() == ["a.mp4"])
    #expect(bench.judged("a.mp4", .complete) == .importNow)
  }
}
