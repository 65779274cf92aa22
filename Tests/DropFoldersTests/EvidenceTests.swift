import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What is shown of a file, and what a person may do about it.
@Suite("Evidence", .timeLimit(.minutes(2)))
struct EvidenceTests {
  @Test("Case 1: who has a file open for writing is named, by command and process id")
  func namesWriter() async throws {
    try await WatchRun.with(["quiet=50"]) { run in
      let file = try FileDescriptor.open(run.drop.appending("a.mp4"), O_WRONLY | O_CREAT)
      try file.write(Array("WHOLE".utf8))
      let line = try await run.line {
        $0["state"] == "open_for_writing" && $0["reason"]?.contains("(pid \(getpid()))") == true
      }
      #expect(line != nil)
      let report = try #require(try await run.ask("report", "a.mp4"))
      #expect(report["reason"]?.hasPrefix("open for writing by ") == true)
      let rows = Self.texts(report.members["evidence"])
      #expect(rows.contains { $0.hasPrefix("no_writer=false: open for writing by ") })
      #expect(rows.contains("structure=false: not yet checked"))
      #expect(report.members["dated"] == .bool(true))
      try file.close()
      #expect(try await run.reaches("imported", "a.mp4"))
      #expect(run.imports == ["a.mp4": 1])
    }
  }

  @Test("a process that has only a mapping left is named too")
  func namesMapping() async throws {
    try await WatchRun.with(["quiet=50"]) { run in
      let file = try FileDescriptor.open(run.drop.appending("a.mp4"), O_RDWR | O_CREAT, mode: 0o644)
      try file.write(Array("WHOLE".utf8))
      let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
      try #require(memory != MAP_FAILED)
      try file.close()
      let line = try await run.line {
        $0["state"] == "open_for_writing" && $0["reason"]?.contains("(pid \(getpid()))") == true
      }
      #expect(line != nil)
      munmap(memory, 4096)
      #expect(try await run.reaches("imported", "a.mp4"))
    }
  }

  @Test("Case 2: extra events, a rescan and a person's question make one import")
  func countsOnce() async throws {
    try await WatchRun.with(["quiet=200", "poll=100"]) { run in
      let path = run.drop.appending("a.mp4")
      try run.files.write("WHOLE", to: "a.mp4")
      try checked("utimes") { utimes(path.nulTerminated, nil) }
      try checked("chmod") { chmod(path.nulTerminated, 0o640) }
      try FileDescriptor.open(path, O_WRONLY | O_APPEND).close()
      #expect(try await run.ask("judge", "a.mp4")?.members["found"] == .bool(true))
      #expect(try await run.reaches("imported", "a.mp4"))
      #expect(try await run.ask("judge", "a.mp4")?.members["found"] == .bool(true))
      let again = try await run.line { $0["reason"] == "the library has it already" }
      #expect(again != nil)
      #expect(run.imports == ["a.mp4": 1])
    }
  }

  @Test("a refused file is judged again when a person asks, and what is no file is told apart")
  func judgesAgain() async throws {
    try await WatchRun.with(["quiet=50", "give_up=100"]) { run in
      try run.files.write("half", to: "a.mp4")
      try run.files.write("half", to: "a.part")
      #expect(try await run.reaches("refused", "a.mp4"))
      #expect(try await run.ask("judge", "a.mp4")?.members["found"] == .bool(true))
      // It is looked at anew, with all its time to become whole.
      let states = try await poll { () -> [String]? in
        _ = try await run.line(within: .milliseconds(10)) { $0["state"] == "none" }
        let states = run.states(of: "a.mp4")
        return states.count { $0 == "refused" } == 2 ? states : nil
      }
      #expect(states?.suffix(2) == ["incomplete", "refused"])
      let phantom = BytePath(run.drop.bytes + Array("/./a.mp4".utf8))
      #expect(try await run.ask("judge", phantom)?.members["found"] == .bool(false))
      #expect(try await run.ask("judge", "none.mp4")?.members["found"] == .bool(false))
      #expect(try await run.ask("judge", "a.part")?.members["found"] == .bool(false))
    }
  }

  @Test("existing = ignore leaves alone what was there, until it changes or a person wants it")
  func ignoresExisting() async throws {
    let prepare: (BytePath) throws -> Void = { drop in
      for name in ["a.mp4", "b.mp4", "c.mp4"] as [BytePath] {
        try DropFiles(folder: drop).write("\(name) WHOLE", to: name)
      }
    }
    try await WatchRun.with(["quiet=50", "existing=ignore", "poll=200"], prepare: prepare) { run in
      for name in ["a.mp4", "b.mp4", "c.mp4"] as [BytePath] {
        #expect(try await run.reaches("ignored", name))
      }
      try run.files.write("new WHOLE", to: "new.mp4")
      #expect(try await run.reaches("imported", "new.mp4"))
      let report = try #require(try await run.ask("report", "a.mp4"))
      #expect(report["state"] == "ignored")
      #expect(report["reason"]?.contains("existing") == true)
      #expect(try await run.ask("judge", "a.mp4")?.members["found"] == .bool(true))
      #expect(try await run.reaches("imported", "a.mp4"))
      try checked("chmod") { chmod(run.drop.appending("b.mp4").nulTerminated, 0o600) }
      #expect(try await run.reaches("imported", "b.mp4"))
      #expect(run.imports == ["new.mp4": 1, "a.mp4": 1, "b.mp4": 1])
    }
  }

  @Test("of nested folders the deepest decides")
  func nested() async throws {
    let prepare: (BytePath) throws -> Void = { try Directory.create($0.appending("in/deep")) }
    try await WatchRun.with(
      ["quiet=50", "proof=marker", "nested=in", "poll=200"],
      prepare: prepare
    ) { run in
      // The outer folder wants a marker, the inner one does not.
      try run.files.write("outer WHOLE", to: "a.mp4")
      try run.files.write("inner WHOLE", to: "in/b.mp4")
      try run.files.write("deep WHOLE", to: "in/deep/c.mp4")
      #expect(try await run.missing(of: ["in/b.mp4", "in/deep/c.mp4"]).isEmpty)
      #expect(try await run.reaches("waiting_proof", "a.mp4"))
      // A file goes from one folder to the other, and so does the decision.
      try run.files.rename("a.mp4", to: "in/a.mp4")
      #expect(try await run.reaches("imported", "in/a.mp4"))
      let inner = run.drop.appending("in").bytes.hexDigits
      let imported = run.lines.filter { $0["state"] == "imported" }
      #expect(imported.allSatisfy { $0["folder"] == inner })
      #expect(run.imports == ["in/b.mp4": 1, "in/deep/c.mp4": 1, "in/a.mp4": 1])
    }
  }

  @Test(
    "Case 23: what cannot be read is named with path, owner and errno, and nothing stops for it"
  )
  func unreadable() async throws {
    guard geteuid() == 0 else {
      print("skipped: only root can make files that the watcher may not read")
      return
    }
    let nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    let prepare: (BytePath) throws -> Void = { drop in
      try DropFiles(folder: drop).write("no WHOLE", to: "no.mp4")
      try Directory.create(drop.appending("nodir"))
      try DropFiles(folder: drop).write("in WHOLE", to: "nodir/in.mp4")
      for name in ["no.mp4", "nodir"] as [BytePath] {
        try checked("chmod") { chmod(drop.appending(name).nulTerminated, 0) }
      }
    }
    try await WatchRun.with(
      ["quiet=50", "quiet_poll=200", "poll=500"],
      prepare: prepare,
      through: nobody
    ) { run in
      try run.files.write("yes WHOLE", to: "yes.mp4")
      #expect(try await run.reaches("imported", "yes.mp4"))
      #expect(try await run.reaches("unreadable", "no.mp4"))
      let reason = try #require(try await run.ask("report", "no.mp4")?["reason"])
      #expect(reason.contains("no.mp4: Permission denied (errno 13, owner 0, group 0, mode 0)"))
      let folder = try #require(try await run.ask("folders")?["degraded"])
      #expect(folder.contains("nodir: Permission denied (errno 13, owner 0"))
      try checked("chmod") { chmod(run.drop.appending("no.mp4").nulTerminated, 0o644) }
      #expect(try await run.reaches("imported", "no.mp4"))
      try checked("chmod") { chmod(run.drop.appending("nodir").nulTerminated, 0o755) }
      #expect(try await run.reaches("imported", "nodir/in.mp4"))
      #expect(run.imports == ["yes.mp4": 1, "no.mp4": 1, "nodir/in.mp4": 1])
    }
  }

  @Test("Case 58: what is replaced by a regular file of its name is an export")
  func replacesSpecial() async throws {
    try await WatchRun.with(["quiet=50"]) { run in
      let fifo = run.drop.appending("x.mp4")
      try checked("mkfifo") { mkfifo(fifo.nulTerminated, 0o644) }
      #expect(try await run.reaches("ignored", "x.mp4"))
      try run.files.write("WHOLE", to: "x.part")
      try run.files.rename("x.part", to: "x.mp4")
      #expect(try await run.reaches("imported", "x.mp4"))
    }
  }

  @Test(
    "Case 112: a second pass over a file is one import after its end; one that was killed is held"
  )
  func secondPass() async throws {
    try await WatchRun.with(["quiet=50"]) { run in
      let file = try FileDescriptor.open(
        run.drop.appending("fs.mp4"),
        O_RDWR | O_CREAT,
        mode: 0o644
      )
      try file.write(Array("first pass WHOLE".utf8))
      // Five quiet periods and more pass before the next word, with the file whole by its look.
      #expect(try await run.reaches("open_for_writing", "fs.mp4"))
      for _ in 0..<3 { _ = try await run.ask("report", "fs.mp4") }
      try Array("second pass, moved".utf8).withUnsafeBytes { try file.write($0, at: 0) }
      #expect(run.imports.isEmpty)
      try file.close()
      #expect(try await run.reaches("incomplete", "fs.mp4"))
      #expect(run.imports.isEmpty)
      try run.files.write("again WHOLE", to: "fs.mp4")
      #expect(try await run.reaches("imported", "fs.mp4"))
      #expect(run.imports == ["fs.mp4": 1])
    }
  }

  private static func texts(_ value: JSONValue?) -> [String] {
    guard case .array(let elements) = value else { return [] }
    return elements.compactMap(\.text)
  }
}
