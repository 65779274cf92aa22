import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// How folders come, move and go; numbers are those of the collected faults of comparable tools.
@Suite("Folders", .timeLimit(.minutes(3)))
struct FolderTests {
  @Test("a tree that is made faster than it can be watched loses nothing (case 8)")
  func watchesThenLists() async throws {
    try await WatchRun.with { run in
      let names = (0..<200).map { BytePath("n\($0)/x/y/v\($0).mp4") }
      try await run.files.busy { files in
        for name in names {
          try files.makeFolder(name.parent)
          try files.write("\(name) WHOLE", to: name)
        }
      }
      #expect(try await run.missing(of: names).isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
      #expect(try await run.ask("folders")?.number("watches") == 601)
    }
  }

  @Test("system and dot folders get no watch (case 20)")
  func skipsSystemFolders() async throws {
    try await WatchRun.with { run in
      for folder in [".AppleDouble", ".Trashes/x", "@eaDir"] as [BytePath] {
        try run.files.makeFolder(folder)
        try run.files.write("WHOLE", to: folder.appending("a.mp4"))
      }
      try run.files.write("WHOLE", to: "._a.mp4")
      try run.files.write("WHOLE", to: "a.mp4")
      #expect(try await run.reaches("imported", "a.mp4"))
      #expect(try await run.reaches("ignored", "._a.mp4"))
      #expect(run.imports == ["a.mp4": 1])
      #expect(try await run.ask("folders")?.number("watches") == 1)
    }
  }

  @Test("files that vanish between event and look harm nothing (case 22)")
  func survivesChurn() async throws {
    try await WatchRun.with(["quiet=0"], inMemory: true) { run in
      try await run.files.busy { files in
        for index in 0..<2000 {
          let folder = BytePath("d\(index % 7)")
          try files.makeFolder(folder)
          try files.write("WHOLE", to: folder.appending("a\(index).mp4"))
          if index.isMultiple(of: 3) { files.remove(folder) }
        }
      }
      try run.files.write("WHOLE", to: "last.mp4")
      #expect(try await run.reaches("imported", "last.mp4"))
      #expect(!run.lines.contains { $0["event"] == "log" })
    }
  }

  @Test("a renamed directory has its new path in later events (case 24)")
  func followsRenames() async throws {
    try await WatchRun.with { run in
      try run.files.makeFolder("a1/a2/a3")
      try run.files.rename("a1", to: "b1")
      try run.files.rename("b1", to: "c1")
      try run.files.write("one WHOLE", to: "c1/a2/a3/v.mp4")
      try run.files.makeFolder("a1")
      try run.files.write("two WHOLE", to: "a1/w.mp4")
      #expect(try await run.missing(of: ["c1/a2/a3/v.mp4", "a1/w.mp4"]).isEmpty)
      #expect(run.imports == ["c1/a2/a3/v.mp4": 1, "a1/w.mp4": 1])
      #expect(!run.lines.contains { $0["event"] == "log" })
      #expect(try await run.ask("folders")?.number("watches") == 5)
    }
  }

  @Test("a directory that is moved in brings its files, and is watched from then on (case 25)")
  func takesMovedIn() async throws {
    try await WatchRun.with { run in
      let day = run.outside("day1")
      try Directory.create(day.appending("cam"))
      for name in ["V.mp4", "V2.mp4"] as [BytePath] {
        try FileDescriptor.open(day.appending("cam").appending(name), O_WRONLY | O_CREAT)
          .write(Array("\(name) WHOLE".utf8))
      }
      try DurableFile.rename(day, to: run.drop.appending("day1"))
      #expect(try await run.missing(of: ["day1/cam/V.mp4", "day1/cam/V2.mp4"]).isEmpty)
      try run.files.write("three WHOLE", to: "day1/cam/V3.mp4")
      #expect(try await run.missing(of: ["day1/cam/V3.mp4"]).isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
    }
  }

  @Test("a directory that is moved out is no longer watched")
  func forgetsMovedOut() async throws {
    try await WatchRun.with { run in
      try run.files.makeFolder("a/b")
      try run.files.write("half", to: "a/b/v.mp4")
      #expect(try await run.reaches("incomplete", "a/b/v.mp4"))
      try DurableFile.rename(run.drop.appending("a"), to: run.outside("a"))
      #expect(try await run.reaches("unknown", "a/b/v.mp4"))
      try FileDescriptor.open(run.outside("a/b/w.mp4"), O_WRONLY | O_CREAT).write(
        Array("WHOLE".utf8)
      )
      try run.files.write("WHOLE", to: "after.mp4")
      #expect(try await run.reaches("imported", "after.mp4"))
      #expect(run.imports == ["after.mp4": 1])
      #expect(try await run.watches(become: 1))
    }
  }

  @Test(
    "a root that is deleted or moved away and made again is watched again (case 27)",
    arguments: 0..<3
  )
  func regainsRoot(way: Int) async throws {
    try await WatchRun.with { run in
      try run.files.makeFolder("sub")
      try run.files.write("half", to: "sub/old.mp4")
      #expect(try await run.reaches("incomplete", "sub/old.mp4"))
      switch way {
      case 0:
        removeTree(run.drop)
      case 1:
        removeTree(run.drop)
        let offline = try await poll {
          try await run.ask("folders").flatMap { $0["mode"] == "offline" ? true : nil }
        }
        #expect(offline == true)
        #expect(try await run.ask("report", "sub/old.mp4")?["state"] == "offline")
      default:
        try DurableFile.rename(run.drop, to: run.outside("drop.old"))
        try FileDescriptor.open(run.outside("drop.old/x.mp4"), O_WRONLY | O_CREAT)
          .write(Array("WHOLE".utf8))
      }
      try Directory.create(run.drop)
      try run.files.write("WHOLE", to: "v.mp4")
      #expect(try await run.reaches("imported", "v.mp4"))
      #expect(run.imports == ["v.mp4": 1])
      #expect(run.lines.contains { $0["message"] == "a drop folder is lost" })
      #expect(try await run.ask("folders")?["mode"] == "events")
    }
  }

  @Test("directories that come and go leave no stale path and no watch behind (case 108)")
  func forgetsDeadDirectories() async throws {
    try await WatchRun.with(["quiet=0"], inMemory: true) { run in
      try await run.makeAndRemove(folders: 2000)
      #expect(try await run.watches(become: 1))
      let before = try run.residentSize()
      try await run.makeAndRemove(folders: 20_000)
      try run.files.makeFolder("k7")
      try run.files.write("WHOLE", to: "k7/v.mp4")
      #expect(try await run.reaches("imported", "k7/v.mp4"))
      #expect(run.imports == ["k7/v.mp4": 1])
      #expect(try await run.watches(become: 2))
      let growth = try run.residentSize() - before
      print("20,000 directories made and removed: \(growth) KiB more in memory")
      #expect(growth < 10 * 1024)
    }
  }

  @Test("directories of odd names may be moved around (case 110)")
  func movesOddNames() async throws {
    let names: [BytePath] = [
      "v,f", "a\"b", "100%w%f", "%", " ", BytePath(String(repeating: ",", count: 255)),
    ]
    try await WatchRun.with { run in
      for name in names { try run.files.makeFolder(name) }
      try await run.files.busy { files in
        for _ in 0..<100 {
          for name in names {
            try files.rename(name, to: "moving")
            try files.rename("moving", to: name)
          }
        }
      }
      for name in names { try run.files.write("\(name.bytes) WHOLE", to: name.appending("v.mp4")) }
      #expect(try await run.missing(of: names.map { $0.appending("v.mp4") }).isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
    }
  }
}
