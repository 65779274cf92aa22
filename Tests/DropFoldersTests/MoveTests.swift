import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Directories that are moved between, into and out of drop folders, and take each other's place.
@Suite("Moves", .timeLimit(.minutes(3)))
struct MoveTests {
  private static let other: BytePath = "other"
  private static let nested: BytePath = "drop/a/nested"

  @Test("a directory that moves to another drop folder belongs to that one (cases 24 and 25)")
  func movesBetweenFolders() async throws {
    try await WatchRun.with(also: [Self.other]) { run in
      let other = DropFiles(folder: run.outside("other"))
      try run.files.makeFolder("x/y")
      try run.files.write("half", to: "x/y/half.mp4")
      #expect(try await run.reaches("incomplete", "x/y/half.mp4"))
      try DurableFile.rename(run.drop.appending("x"), to: other.folder.appending("z"))
      #expect(try await run.reaches("unknown", "x/y/half.mp4"))
      let moved = other.folder.appending("z/y/half.mp4")
      #expect(try await run.line { $0["state"] == "incomplete" && $0.path == moved } != nil)
      try other.write("whole WHOLE", to: "z/y/half.mp4")
      #expect(try await run.line { $0["state"] == "imported" && $0.path == moved } != nil)
      #expect(try await run.watches(become: 1))
      let folders = try await run.folders { $0.others.first?.number("watches") == 3 }
      #expect(folders != nil)
      // And back, with files being written at both ends.
      try other.write("late WHOLE", to: "z/y/late.mp4")
      try DurableFile.rename(other.folder.appending("z"), to: run.drop.appending("x"))
      try run.files.write("later WHOLE", to: "x/y/later.mp4")
      #expect(try await run.missing(of: ["x/y/late.mp4", "x/y/later.mp4"]).isEmpty)
      #expect(try await run.watches(become: 3))
      #expect(run.imports.values.allSatisfy { $0 == 1 })
    }
  }

  @Test("a directory moves into and out of a nested drop folder: the deepest decides")
  func movesIntoNested() async throws {
    try await WatchRun.with(also: [Self.nested]) { run in
      try run.files.makeFolder("x")
      try run.files.write("one WHOLE", to: "x/one.mp4")
      #expect(try await run.reaches("imported", "x/one.mp4"))
      // The outer folder has drop, a and x; the nested one itself.
      #expect(try await run.folders { $0.number("watches") == 3 } != nil)
      try run.files.rename("x", to: "a/nested/x")
      try run.files.write("two WHOLE", to: "a/nested/x/two.mp4")
      #expect(try await run.missing(of: ["a/nested/x/two.mp4", "a/nested/x/one.mp4"]).isEmpty)
      let inside = try await run.folders {
        $0.number("watches") == 2 && $0.others.first?.number("watches") == 2
      }
      #expect(inside != nil)
      try run.files.rename("a/nested/x", to: "a/x")
      try run.files.write("three WHOLE", to: "a/x/three.mp4")
      #expect(try await run.missing(of: ["a/x/three.mp4"]).isEmpty)
      let outside = try await run.folders {
        $0.number("watches") == 3 && $0.others.first?.number("watches") == 1
      }
      #expect(outside != nil)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
    }
  }

  @Test("a directory above a nested drop folder is moved away and back (case 27)")
  func movesAboveNested() async throws {
    try await WatchRun.with(also: [Self.nested]) { run in
      try run.files.write("one WHOLE", to: "a/nested/one.mp4")
      #expect(try await run.reaches("imported", "a/nested/one.mp4"))
      try run.files.rename("a", to: "b")
      // No event tells of it: the nested root is looked for every few seconds.
      #expect(try await run.folders { $0.others.first?["mode"] == "offline" } != nil)
      // What was the nested root is now an ordinary directory of the outer folder.
      try run.files.write("two WHOLE", to: "b/nested/two.mp4")
      #expect(try await run.missing(of: ["b/nested/one.mp4", "b/nested/two.mp4"]).isEmpty)
      #expect(try await run.watches(become: 3))
      try run.files.rename("b", to: "a")
      let back = try await run.folders { $0.others.first?["mode"] == "events" }
      #expect(back?.others.first?.number("watches") == 1)
      try run.files.write("three WHOLE", to: "a/nested/three.mp4")
      #expect(try await run.missing(of: ["a/nested/three.mp4"]).isEmpty)
      #expect(try await run.watches(become: 2))
      #expect(run.imports.values.allSatisfy { $0 == 1 })
    }
  }

  @Test("two directories and two files that are exchanged keep their watches and their content")
  func exchanges() async throws {
    try await WatchRun.with { run in
      for name in ["p", "q"] as [BytePath] {
        try run.files.makeFolder(name.appending("sub"))
        try run.files.write("half \(name)", to: name.appending("sub/v.mp4"))
        #expect(try await run.reaches("incomplete", name.appending("sub/v.mp4")))
      }
      try exchange(run.drop.appending("p"), run.drop.appending("q"))
      try run.files.write("p WHOLE", to: "p/sub/v.mp4")
      try run.files.write("q WHOLE", to: "q/sub/w.mp4")
      #expect(try await run.missing(of: ["p/sub/v.mp4", "q/sub/w.mp4"]).isEmpty)
      try run.files.write("new q WHOLE", to: "q/sub/v.mp4")
      #expect(try await run.missing(of: ["q/sub/v.mp4"]).isEmpty)
      #expect(try await run.watches(become: 5))

      try run.files.write("half", to: "final.mp4")
      #expect(try await run.reaches("incomplete", "final.mp4"))
      try run.files.write("other WHOLE", to: "work.mp4.part")
      #expect(try await run.reaches("ignored", "work.mp4.part"))
      try exchange(run.drop.appending("work.mp4.part"), run.drop.appending("final.mp4"))
      #expect(try await run.reaches("imported", "final.mp4"))
      #expect(run.imports.values.allSatisfy { $0 == 1 })
    }
  }

  private func exchange(_ one: BytePath, _ other: BytePath) throws {
    let call =
      "import ctypes,sys; l=ctypes.CDLL(None,use_errno=True);"
      + " sys.exit(l.renameat2(-100,sys.argv[1].encode(),-100,sys.argv[2].encode(),2) != 0)"
    guard system("python3 -c '\(call)' \(one.lossyText) \(other.lossyText)") == 0 else {
      throw TestSupportError("\(one) and \(other) cannot be exchanged")
    }
  }

  @Test("a directory that is replaced by another of its name again and again loses nothing")
  func replaces() async throws {
    try await WatchRun.with(["quiet=0"]) { run in
      try run.files.makeFolder("d")
      try await run.files.busy { files in
        for round in 0..<300 {
          let (new, old) = (BytePath("new\(round)"), BytePath("old\(round)"))
          try files.makeFolder(new.appending("sub"))
          try files.write("\(round) WHOLE", to: new.appending("sub/v\(round).mp4"))
          try files.rename("d", to: old)
          try files.rename(new, to: "d")
          if round.isMultiple(of: 2) { files.remove(old) }
        }
      }
      try run.files.write("last WHOLE", to: "d/sub/last.mp4")
      var names: [BytePath] = ["d/sub/last.mp4", "d/sub/v299.mp4"]
      for round in stride(from: 1, to: 300, by: 2) {
        names.append(BytePath("old\(round)/sub/v\(round - 1).mp4"))
      }
      #expect(try await run.missing(of: names).isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
      // The root, d and 150 others, each with a folder in it but the first d.
      #expect(try await run.watches(become: 303))
    }
  }

  @Test("a link or a mount that leads back to the root is not followed (case 56)")
  func endsLoops() async throws {
    guard await Mounts.isPossible("a folder is mounted into itself in this test") else { return }
    let prepare: (BytePath) throws -> Void = { drop in
      try Directory.create(drop.appending("d/self"))
      try checked("symlink") { symlink("..", drop.appending("up").nulTerminated) }
      try checked("symlink") { symlink(".", drop.appending("d/loop").nulTerminated) }
      guard system("mount --bind \(drop.lossyText) \(drop.lossyText)/d/self") == 0 else {
        throw TestSupportError("nothing can be mounted")
      }
    }
    try await WatchRun.with(prepare: prepare) { run in
      defer { _ = system("umount -l \(run.drop.lossyText)/d/self") }
      try run.files.write("WHOLE", to: "d/v.mp4")
      #expect(try await run.reaches("imported", "d/v.mp4"))
      #expect(run.imports == ["d/v.mp4": 1])
      #expect(try await run.ask("folders")?.number("watches") == 2)
    }
  }
}
