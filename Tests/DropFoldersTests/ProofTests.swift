import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What `proof` asks for, with real events and files.
@Suite("Proofs", .timeLimit(.minutes(2)))
struct ProofTests {
  @Test("Case 4: with proof = rename only a rename makes an export, whole or not, end mark or not")
  func rename() async throws {
    try await WatchRun.with(["quiet=50", "proof=rename"]) { run in
      try run.files.write("UNPROVABLE WHOLE", to: "direct.ts")
      try run.files.write("WHOLE", to: "direct.mp4")
      #expect(try await run.reaches("waiting_proof", "direct.ts"))
      #expect(try await run.reaches("waiting_proof", "direct.mp4"))
      try run.files.write("UNPROVABLE WHOLE", to: "c.ts.part")
      try run.files.rename("c.ts.part", to: "c.ts")
      #expect(try await run.reaches("imported", "c.ts"))
      // What is held is still there, and the same bytes count once they are renamed.
      try run.files.rename("direct.ts", to: "direct.ts.tmp")
      try run.files.rename("direct.ts.tmp", to: "direct.ts")
      #expect(try await run.reaches("imported", "direct.ts"))
      #expect(run.imports == ["c.ts": 1, "direct.ts": 1])
    }
  }

  @Test("a writer that renames its file while it has it open is believed once it has closed it")
  func renamedWhileOpen() async throws {
    try await WatchRun.with(["quiet=50", "proof=rename"]) { run in
      let file = try FileDescriptor.open(
        run.drop.appending("a.ts.tmp"),
        O_WRONLY | O_CREAT,
        mode: 0o644
      )
      try file.write(Array("UNPROVABLE WHOLE".utf8))
      try file.sync()
      // The rename's time stamp has to differ from that of the last write: a tick of the kernel's clock.
      try await Self.tick(run)
      try run.files.rename("a.ts.tmp", to: "a.ts")
      #expect(try await run.reaches("open_for_writing", "a.ts"))
      try file.close()
      #expect(try await run.reaches("imported", "a.ts"))
      let other = try FileDescriptor.open(run.drop.appending("a.ts"), O_WRONLY | O_APPEND)
      try other.write(Array("WHOLE".utf8))
      try other.close()
      #expect(try await run.reaches("waiting_proof", "a.ts"))
      #expect(run.imports == ["a.ts": 1])
    }
  }

  @Test("files of a directory that is moved in came by a rename")
  func movedDirectory() async throws {
    try await WatchRun.with(["quiet=50", "proof=rename"]) { run in
      let day = run.outside("day")
      try Directory.create(day.appending("cam"))
      try DropFiles(folder: day).write("UNPROVABLE WHOLE", to: "cam/a.ts")
      try DurableFile.rename(day, to: run.drop.appending("day"))
      #expect(try await run.reaches("imported", "day/cam/a.ts"))
    }
  }

  @Test("what a start finds shows no rename: equal looks for what shows its end, else it is held")
  func foundAtStart() async throws {
    let prepare: (BytePath) throws -> Void = { drop in
      try DropFiles(folder: drop).write("WHOLE", to: "a.mp4")
      try DropFiles(folder: drop).write("UNPROVABLE WHOLE", to: "b.ts")
    }
    try await WatchRun.with(["quiet=50", "quiet_poll=400", "proof=rename"], prepare: prepare) {
      run in
      #expect(try await run.reaches("waiting_proof", "b.ts"))
      #expect(try await run.reaches("imported", "a.mp4"))
      #expect(run.states(of: "a.mp4").contains("waiting_proof"))
      let report = try #require(try await run.ask("report", "b.ts"))
      #expect(report["state"] == "waiting_proof")
      #expect(report["reason"]?.contains("rename it again") == true)
    }
  }

  @Test("with proof = marker a file waits for its marker, and one from before its content is none")
  func marker() async throws {
    try await WatchRun.with(["quiet=50", "proof=marker"]) { run in
      try run.files.write("UNPROVABLE WHOLE", to: "a.ts")
      #expect(try await run.reaches("waiting_proof", "a.ts"))
      try run.files.write("", to: "a.ts.done")
      #expect(try await run.reaches("imported", "a.ts"))
      #expect(try await run.reaches("ignored", "a.ts.done"))
      try await Self.tick(run)
      try run.files.write("UNPROVABLE again WHOLE", to: "a.ts")
      let held = try await run.line {
        $0["state"] == "waiting_proof"
          && $0["reason"]?.contains("older than the last change") == true
      }
      #expect(held != nil)
      try run.files.write("", to: "a.ts.done")
      _ = try await poll { () -> Bool? in
        _ = try await run.line(within: .milliseconds(10)) { $0["state"] == "none" }
        return run.imports["a.ts"] == 2 ? true : nil
      }
      #expect(run.imports == ["a.ts": 2])
    }
  }

  @Test("a marker from before does not count for content that comes with an old date")
  func markerOfOldContent() async throws {
    try await WatchRun.with(["quiet=50", "proof=marker"]) { run in
      let old = run.outside("old.ts")
      try DropFiles(folder: old.parent).write("UNPROVABLE old WHOLE", to: "old.ts")
      #expect(await shell("touch -d 2020-01-01 '\(old.lossyText)'") == 0)
      try run.files.write("UNPROVABLE WHOLE", to: "v.ts")
      try run.files.write("", to: "v.ts.done")
      #expect(try await run.reaches("imported", "v.ts"))
      try await Self.tick(run)
      let name = run.drop.appending("v.ts").lossyText
      #expect(await shell("cp -p '\(old.lossyText)' '\(name)'") == 0)
      let held = try await run.line {
        $0["state"] == "waiting_proof" && $0["reason"]?.contains("older than the last") == true
      }
      #expect(held != nil)
      #expect(run.imports == ["v.ts": 1])
      try run.files.write("", to: "v.ts.done")
      let again = try await poll { () -> Bool? in
        _ = try await run.line(within: .milliseconds(10)) { $0["state"] == "none" }
        return run.imports["v.ts"] == 2 ? true : nil
      }
      #expect(again == true)
    }
  }

  @Test(
    "Case 1: half a file without an end mark is never taken without the proof that is asked for"
  )
  func stalled() async throws {
    try await WatchRun.with(["quiet=20", "proof=marker"]) { run in
      try run.files.write("UNPROVABLE half WHOLE", to: "stalled.ts")
      try run.files.write("UNPROVABLE WHOLE", to: "whole.ts")
      try run.files.write("", to: "whole.ts.done")
      #expect(try await run.reaches("imported", "whole.ts"))
      #expect(try await run.reaches("waiting_proof", "stalled.ts"))
      // Longer than every quiet period: five seconds for a format without an end.
      let later = try await run.line(within: .seconds(7)) {
        $0["state"] == "imported" && $0.path == run.drop.appending("stalled.ts")
      }
      #expect(later == nil)
    }
  }

  @Test(
    "with proof = checksum the bytes are compared, and what differs is judged again on a change",
    arguments: [
      ("sha256", "80e87ffc63bc47e8bd6a4d3c0e63b5a7ac2cc70b3e3a25c61d8b5f3e7fb4e6a1", "sha256sum"),
      ("md5", "900150983cd24fb0d6963f7d28e17f72", "md5sum"),
    ]
  )
  func checksum(suffix: String, wrong: String, tool: String) async throws {
    try await WatchRun.with(["quiet=50", "proof=checksum"]) { run in
      try run.files.write("UNPROVABLE WHOLE", to: "a.ts")
      #expect(try await run.reaches("waiting_proof", "a.ts"))
      let name = BytePath("a.ts.\(suffix)")
      try run.files.write("\(wrong) *a.ts\n", to: name)
      let differs = try await run.line {
        $0["state"] == "waiting_proof" && $0["reason"] == "the digests differ"
      }
      #expect(differs != nil)
      #expect(run.imports.isEmpty)
      let folder = run.drop.lossyText
      let line = "cd '\(folder)' && \(tool) a.ts > s.tmp && mv s.tmp a.ts.\(suffix)"
      #expect(await shell(line) == 0)
      #expect(try await run.reaches("imported", "a.ts"))
      #expect(run.imports == ["a.ts": 1])
    }
  }

  @Test("a checksum file that says nothing of the export is named as the reason")
  func unreadableChecksum() async throws {
    try await WatchRun.with(["quiet=50", "proof=checksum"]) { run in
      try run.files.write("", to: "a.mp4.sha256")
      try run.files.write("WHOLE", to: "a.mp4")
      let held = try await run.line {
        $0["state"] == "waiting_proof" && $0["reason"]?.contains("holds no SHA-256") == true
      }
      #expect(held != nil)
    }
  }

  /// Waits until the kernel's clock for time stamps has moved on.
  private static func tick(_ run: WatchRun) async throws {
    let probe = DropFiles(folder: run.outside("tick").parent)
    try probe.write("", to: "tick0")
    let first = try #require(try FileStatus.of(run.outside("tick0"))).changed
    var number = 0
    _ = try await poll(every: .milliseconds(2)) { () -> Bool? in
      number += 1
      try probe.write("", to: BytePath("tick\(number)"))
      let now = try FileStatus.of(run.outside("tick\(number)"))?.changed ?? 0
      return now > first ? true : nil
    }
  }
}
