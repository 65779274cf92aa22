import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Exports that belong together, with the real watcher; numbers are those of the collected faults.
@Suite("Units of exports", .timeLimit(.minutes(2)))
struct UnitTests {
  private let package = ["quiet=300", "package=1"]

  @Test("Case 5: what a writer leaves is ignored with the writer's name and pattern")
  func scratchFiles() async throws {
    try await WatchRun.with { run in
      let names: [(name: BytePath, reason: String)] = [
        (".d.mp4.AbC123", "a temporary name of rsync: .*.??????"),
        ("f.mp4.crdownload", "a temporary name of Chrome and Edge: *.crdownload"),
        ("~h.mp4", "a temporary name of many programs: ~*"),
        (".handoff-move-0011", "a temporary name of Handoff: .handoff-*"),
      ]
      for (name, _) in names { try run.files.write("WHOLE", to: name) }
      try run.files.write("WHOLE", to: "d.mp4")
      #expect(try await run.reaches("imported", "d.mp4"))
      for (name, reason) in names {
        #expect(try await run.reaches("ignored", name))
        #expect(try await run.ask("report", name)?["reason"] == reason)
      }
      #expect(run.imports == ["d.mp4": 1])
    }
  }

  @Test("Case 51: with a preference one import is made, of the remux")
  func remux() async throws {
    try await WatchRun.with(["quiet=200", "prefer=mp4", "prefer_wait=60000"]) { run in
      try run.files.write("raw WHOLE", to: "rec.mkv")
      #expect(try await run.reaches("waiting_quiet", "rec.mkv"))
      let waits = try await run.line { $0["reason"]?.contains("prefer_wait") == true }
      #expect(waits != nil)
      let remux = try FileDescriptor.open(run.drop.appending("rec.mp4"), O_WRONLY | O_CREAT)
      #expect(try await run.reaches("open_for_writing", "rec.mp4"))
      try remux.write(Array("remux WHOLE".utf8))
      try remux.close()
      #expect(try await run.reaches("imported", "rec.mp4"))
      #expect(try await run.reaches("ignored", "rec.mkv"))
      run.files.removeFile("rec.mkv")
      #expect(try await run.reaches("unknown", "rec.mkv"))
      #expect(run.imports == ["rec.mp4": 1])
    }
  }

  @Test("Case 51: without one there are two imports; a recording alone is imported in the end")
  func withoutRemux() async throws {
    try await WatchRun.with(["quiet=100"]) { run in
      try run.files.write("raw WHOLE", to: "rec.mkv")
      try run.files.write("remux WHOLE", to: "rec.mp4")
      #expect(try await run.missing(of: ["rec.mkv", "rec.mp4"]).isEmpty)
    }
    try await WatchRun.with(["quiet=100", "prefer=mp4", "prefer_wait=500"]) { run in
      try run.files.write("raw WHOLE", to: "rec.mkv")
      #expect(try await run.reaches("imported", "rec.mkv"))
    }
  }

  @Test("Case 51: removal of the raw file during its import is told as such")
  func removedDuringImport() async throws {
    try await WatchRun.with { run in
      try run.files.write("HOLD WHOLE", to: "rec.mkv")
      #expect(try await run.reaches("importing", "rec.mkv"))
      run.files.removeFile("rec.mkv")
      let line = try await run.line { $0["state"] == "unknown" }
      #expect(line?["reason"] == "source removed during its import, which was given up")
      #expect(run.imports.isEmpty)
    }
  }

  @Test("Case 73: a package arrives member by member and is told once, whole")
  func gathers() async throws {
    try await WatchRun.with(package) { run in
      try run.files.makeFolder("job")
      try run.files.write("one WHOLE", to: "job/a.mp4")
      let open = try FileDescriptor.open(run.drop.appending("job/b.mp4"), O_WRONLY | O_CREAT)
      try open.write(Array("two WHOLE".utf8))
      try run.files.write("text", to: "job/notes.srt")
      #expect(try await run.reaches("waiting_package", "job/a.mp4"))
      #expect(try await run.reaches("open_for_writing", "job/b.mp4"))
      let why = try await run.ask("report", "job/a.mp4")
      #expect(why?["reason"]?.contains("job: b.mp4 is open_for_writing") == true)
      #expect(run.imports.isEmpty)
      try open.close()
      #expect(try await run.missing(of: ["job/a.mp4", "job/b.mp4"]).isEmpty)
      let told = try await run.line { $0["event"] == "package" }
      #expect(told?.path == run.drop.appending("job"))
      #expect(told?.number("members") == 2)
      #expect(try await run.ask("report", "job")?["state"] == "imported")
    }
  }

  @Test("Case 73: a directory that is moved in with files inside is one package")
  func movedIn() async throws {
    try await WatchRun.with(package) { run in
      let outside = run.outside("job")
      try Directory.create(outside.appending("deep"))
      let files = DropFiles(folder: outside)
      for number in 0..<20 {
        try files.write(
          "\(number) WHOLE",
          to: BytePath(number.isMultiple(of: 2) ? "\(number).mp4" : "deep/\(number).mp4")
        )
      }
      try DurableFile.rename(outside, to: run.drop.appending("job"))
      let told = try await run.line { $0["event"] == "package" }
      #expect(told?.number("members") == 20)
      #expect(run.imports.count == 20)
      // A file directly in the folder is a unit of its own.
      try run.files.write("single WHOLE", to: "single.mp4")
      #expect(try await run.reaches("imported", "single.mp4"))
      #expect(run.lines.count { $0["event"] == "package" } == 1)
    }
  }

  @Test("Case 73: a package waits for what grows under rsync's temporary name")
  func rsynced() async throws {
    try await WatchRun.with(package) { run in
      try run.files.makeFolder("job")
      let names: [BytePath] = ["job/.z.mp4.AbC123", "job/.a.mp4.AbC123"]
      for name in names { try run.files.write("some WHOLE", to: name) }
      try DurableFile.rename(run.drop.appending(names[1]), to: run.drop.appending("job/a.mp4"))
      #expect(try await run.reaches("waiting_package", "job/a.mp4"))
      #expect(run.imports.isEmpty)
      try DurableFile.rename(run.drop.appending(names[0]), to: run.drop.appending("job/z.mp4"))
      let told = try await run.line { $0["event"] == "package" }
      #expect(told?.number("members") == 2)
    }
  }

  @Test("a package that is moved in with a directory that cannot be read waits until it can")
  func shutPlace() async throws {
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    try await WatchRun.with(package + ["poll=300", "quiet_poll=300"], through: nobody) { run in
      let outside = run.outside("job")
      let shut = outside.appending("shut")
      try Directory.create(shut)
      let files = DropFiles(folder: outside)
      try files.write("one WHOLE", to: "a.mp4")
      try files.write("two WHOLE", to: "shut/b.mp4")
      try checked("chmod") { chmod(shut.nulTerminated, 0) }
      try DurableFile.rename(outside, to: run.drop.appending("job"))
      #expect(try await run.reaches("waiting_package", "job/a.mp4"))
      #expect(run.imports.isEmpty)
      try checked("chmod") { chmod(run.drop.appending("job/shut").nulTerminated, 0o755) }
      let told = try await run.line { $0["event"] == "package" }
      #expect(told?.number("members") == 2)
    }
  }

  @Test("a refused member holds its package until it is removed")
  func refusedMember() async throws {
    try await WatchRun.with(package + ["give_up=400"]) { run in
      try run.files.makeFolder("job")
      try run.files.write("one WHOLE", to: "job/a.mp4")
      try run.files.write("half", to: "job/b.mp4")
      #expect(try await run.reaches("refused", "job/b.mp4"))
      #expect(try await run.ask("report", "job/a.mp4")?["state"] == "waiting_package")
      run.files.removeFile("job/b.mp4")
      #expect(try await run.reaches("imported", "job/a.mp4"))
      let told = try await run.line { $0["event"] == "package" }
      #expect(told?.number("members") == 1)
    }
  }
}
