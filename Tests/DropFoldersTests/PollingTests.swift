import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Folders that are polled: because it was asked for, or because their events tell too little.
@Suite("Polling", .timeLimit(.minutes(3)))
struct PollingTests {
  @Test("a folder that is polled by choice finds all, without one watch")
  func pollsByChoice() async throws {
    try await WatchRun.with(["quiet=100", "poll=500", "watch=poll"]) { run in
      let folder = try await run.ask("folders")
      #expect(folder?["mode"] == "poll")
      #expect(folder?.number("watches") == 0)
      #expect(folder?["degraded"] == nil)
      try run.files.makeFolder("a/b")
      let file = try FileDescriptor.open(run.drop.appending("a/b/v.mp4"), O_WRONLY | O_CREAT)
      // Whole from the first byte on: only its writer speaks against it.
      try file.write(Array("one WHOLE".utf8))
      #expect(try await run.reaches("open_for_writing", "a/b/v.mp4"))
      try file.write(Array(" two WHOLE".utf8))
      #expect(run.imports.isEmpty)
      try file.close()
      #expect(try await run.reaches("imported", "a/b/v.mp4", within: .seconds(6)))
      try run.files.write("half", to: "w.mp4")
      #expect(try await run.reaches("incomplete", "w.mp4"))
      try run.files.rename("w.mp4", to: "x.mp4")
      #expect(try await run.reaches("unknown", "w.mp4"))
      #expect(try await run.reaches("incomplete", "x.mp4"))
      #expect(run.imports == ["a/b/v.mp4": 1])
    }
  }

  @Test("a finished export is imported within one poll interval and the quiet period")
  func keepsInterval() async throws {
    try await WatchRun.with(["quiet=100", "poll=1000", "watch=poll"]) { run in
      for index in 0..<3 {
        let name = BytePath("v\(index).mp4")
        try run.files.write("\(index) WHOLE", to: name)
        let closed = ContinuousClock.now
        #expect(try await run.reaches("imported", name))
        // The unclosed quiet of 250 ms, and a second for a busy machine.
        #expect(ContinuousClock.now - closed < .milliseconds(2300))
      }
    }
  }

  @Test("a polled root that is lost is offline, and polled again when it is back (case 27)")
  func regainsPolledRoot() async throws {
    try await WatchRun.with(["quiet=100", "poll=200", "watch=poll"]) { run in
      try run.files.write("half", to: "old.mp4")
      #expect(try await run.reaches("incomplete", "old.mp4"))
      removeTree(run.drop)
      #expect(try await run.folders { $0["mode"] == "offline" } != nil)
      #expect(try await run.ask("report", "old.mp4")?["state"] == "offline")
      try Directory.create(run.drop)
      try run.files.write("WHOLE", to: "v.mp4")
      #expect(try await run.reaches("imported", "v.mp4"))
      #expect(!run.states(of: "old.mp4").contains("unknown"))
      #expect(try await run.ask("folders")?["mode"] == "poll")
    }
  }

  @Test("a FUSE file system is named and polled, and its leases prove nothing (case 6)")
  func pollsFUSE() async throws {
    guard await Mounts.fuseIsPossible() else { return }
    try await withTemporaryDirectory { under in
      try checked("chmod") { chmod(under.nulTerminated, 0o755) }
      let settings = ["quiet=100", "quiet_poll=1500", "poll=200"]
      var place: BytePath?
      defer { if let place { _ = system("umount -l \(place.lossyText) 2>/dev/null") } }
      let prepare: (BytePath) throws -> Void = { drop in
        guard system("bindfs \(under.lossyText) \(drop.lossyText)") == 0 else {
          throw TestSupportError("bindfs does not mount")
        }
        place = drop
      }
      try await WatchRun.with(settings, prepare: prepare) { run in
        defer { _ = system("umount -l \(place?.lossyText ?? "") 2>/dev/null") }
        let folder = try await run.ask("folders")
        #expect(folder?["mode"] == "poll")
        #expect(folder?["degraded"]?.contains("FUSE") == true)
        let other = DropFiles(folder: under)
        try other.makeFolder("sub")
        // On the other side it stays open and grows, and is whole after each step: the kernel grants
        // a lease on this side all the while.
        let file = try FileDescriptor.open(under.appending("sub/v.mp4"), O_WRONLY | O_CREAT)
        for step in 0..<12 {
          try file.write(Array("\(step) WHOLE".utf8))
          let early = try await poll(within: .milliseconds(300)) {
            try await run.ask("folders").flatMap { _ in run.imports.isEmpty ? nil : true }
          }
          #expect(early == nil)
        }
        try file.close()
        #expect(try await run.reaches("imported", "sub/v.mp4"))
        #expect(run.imports == ["sub/v.mp4": 1])
        let reasons = run.lines.compactMap { $0["reason"] }
        #expect(reasons.contains { $0.contains("two equal looks") })
        // A writer on this side is known of at once.
        let near = try FileDescriptor.open(run.drop.appending("n.mp4"), O_WRONLY | O_CREAT)
        try near.write(Array("near WHOLE".utf8))
        #expect(try await run.reaches("open_for_writing", "n.mp4"))
        try near.close()
        #expect(try await run.reaches("imported", "n.mp4"))
      }
    }
  }

  @Test("events that are asked for on FUSE are used, and what they lack is said (case 6)")
  func forcesEvents() async throws {
    guard await Mounts.fuseIsPossible() else { return }
    try await withTemporaryDirectory { under in
      try checked("chmod") { chmod(under.nulTerminated, 0o755) }
      var place: BytePath?
      defer { if let place { _ = system("umount -l \(place.lossyText) 2>/dev/null") } }
      let prepare: (BytePath) throws -> Void = { drop in
        guard system("bindfs \(under.lossyText) \(drop.lossyText)") == 0 else {
          throw TestSupportError("bindfs does not mount")
        }
        place = drop
      }
      let settings = ["quiet=100", "quiet_poll=300", "watch=events"]
      try await WatchRun.with(settings, prepare: prepare) { run in
        defer { _ = system("umount -l \(place?.lossyText ?? "") 2>/dev/null") }
        let folder = try await run.ask("folders")
        #expect(folder?["mode"] == "events")
        #expect(folder?.number("watches") == 1)
        #expect(folder?["degraded"]?.contains("FUSE") == true)
        #expect(folder?["degraded"]?.contains("watch = \"events\"") == true)
        try run.files.makeFolder("sub")
        try run.files.write("WHOLE", to: "sub/v.mp4")
        #expect(try await run.reaches("imported", "sub/v.mp4"))
      }
    }
  }

  @Test("a network file system that is mounted below the root is polled there (case 6)")
  func pollsNestedMount() async throws {
    guard await Mounts.fuseIsPossible() else { return }
    try await withTemporaryDirectory { under in
      try checked("chmod") { chmod(under.nulTerminated, 0o755) }
      try Directory.create(under.appending("deep"))
      var place: BytePath?
      defer { if let place { _ = system("umount -l \(place.lossyText) 2>/dev/null") } }
      let prepare: (BytePath) throws -> Void = { drop in
        let inner = drop.appending("nas")
        try Directory.create(inner)
        guard system("bindfs \(under.lossyText) \(inner.lossyText)") == 0 else {
          throw TestSupportError("bindfs does not mount")
        }
        place = inner
      }
      let settings = ["quiet=100", "quiet_poll=300", "poll=200"]
      try await WatchRun.with(settings, prepare: prepare) { run in
        defer { _ = system("umount -l \(place?.lossyText ?? "") 2>/dev/null") }
        let folder = try await run.ask("folders")
        #expect(folder?["mode"] == "events")
        #expect(folder?.number("watches") == 1)
        #expect(folder?["degraded"]?.contains("2 directories are") == true)
        #expect(folder?["degraded"]?.contains("FUSE") == true)
        let other = DropFiles(folder: under)
        try other.write("far WHOLE", to: "deep/v.mp4")
        try other.write("half", to: "h.mp4")
        try run.files.write("near WHOLE", to: "w.mp4")
        #expect(try await run.missing(of: ["nas/deep/v.mp4", "w.mp4"]).isEmpty)
        #expect(try await run.reaches("incomplete", "nas/h.mp4"))

        let inner = run.drop.appending("nas")
        try await Mounts.unmount(inner)
        #expect(try await run.folders { $0["degraded"]?.contains("is away") == true } != nil)
        #expect(try await run.ask("report", "nas/h.mp4")?["state"] == "offline")
        #expect(!run.states(of: "nas/h.mp4").contains("unknown"))

        try await Mounts.fuse(under, at: inner)
        #expect(try await run.folders { $0["degraded"]?.contains("is away") == false } != nil)
        try other.write("whole WHOLE", to: "h.mp4")
        #expect(try await run.reaches("imported", "nas/h.mp4"))
        #expect(run.imports["w.mp4"] == 1)
        #expect(run.imports["nas/h.mp4"] == 1)
      }
    }
  }
}
