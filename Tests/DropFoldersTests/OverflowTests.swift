import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The event queue overflows, really: the watcher is stopped while the queue fills.
@Suite("Overflow", .timeLimit(.minutes(3)))
struct OverflowTests {
  @Test("an overflow of the event queue loses nothing and doubles nothing (case 17)")
  func survivesOverflow() async throws {
    try await WatchRun.with(["quiet=100", "brief=1"], inMemory: true) { run in
      run.signal(SIGSTOP)
      let names = (0..<20_000).map { index in
        BytePath("v\(index).\(index.isMultiple(of: 200) ? "mp4" : "txt")")
      }
      try await run.files.busy { files in
        for name in names { try files.write("\(name) WHOLE", to: name) }
      }
      let videos = names.filter { $0.lowercasedExtension == Array("mp4".utf8) }
      // Directories that no event tells of.
      try run.files.makeFolder("late/deep")
      try run.files.write("deep WHOLE", to: "late/deep/v.mp4")
      run.signal(SIGCONT)
      #expect(try await run.missing(of: videos + ["late/deep/v.mp4"]).isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
      #expect(run.imports.count == 101)
      let overflows = run.lines.filter { $0["message"]?.contains("overflow") == true }
      #expect(overflows.count == 1)
    }
  }

  @Test("overflows one after another are answered ever more slowly, and losing nothing (case 106)")
  func backsOff() async throws {
    let settings = ["quiet=100", "brief=1", "poll=60000"]
    try await WatchRun.with(settings, inMemory: true) { run in
      try run.files.makeFolder("noise")
      let start = ContinuousClock.now
      let cpu = try run.processorTime()
      var stops = 0
      // Each time the queue of 16,384 is filled before the watcher reads on.
      while ContinuousClock.now - start < .seconds(20) {
        run.signal(SIGSTOP)
        try await run.files.busy { files in
          for index in 0..<7000 {
            let name = BytePath("noise/n\(index % 100).txt")
            try files.write("n", to: name)
            files.removeFile(name)
          }
        }
        stops += 1
        if stops == 2 {
          try run.files.makeFolder("good/deep")
          try run.files.write("good WHOLE", to: "good/deep/v.mp4")
        }
        run.signal(SIGCONT)
        // It has a moment to read on, in which another process would go on making noise.
        _ = try await run.folders(within: .milliseconds(300)) { _ in false }
      }
      #expect(try await run.reaches("imported", "good/deep/v.mp4", within: .seconds(30)))
      #expect(run.imports == ["good/deep/v.mp4": 1])
      let folder = try #require(try await run.ask("folders"))
      let rescans = try #require(folder.number("rescans"))
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let used = try run.processorTime() - cpu
      print("\(stops) floods in \(seconds) s: \(rescans) rescans, \(used) s of processor time")
      // After 0.1, 2, 4, 8 and 15 seconds at the soonest; a busy machine reads fewer overflows.
      #expect(rescans >= 1 && rescans <= 6)
      #expect(folder["rescan_reason"] == "the event queue overflowed")
      // The noise is several times that of the case, and this is an unoptimized build.
      #expect(used < seconds * 1.5)
    }
  }

  /// The new instance is opened some 100 ms after the overflow is noticed.
  @Test(
    "an end that is asked for while all is watched anew is not overlooked",
    arguments: [90, 110, 130, 150, 170]
  )
  func endsAtOnce(milliseconds: Int) async throws {
    let prepare: (BytePath) throws -> Void = { drop in
      for index in 0..<20_000 { try Directory.create(drop.appending("d\(index)")) }
    }
    try await WatchRun.with(prepare: prepare, inMemory: true) { run in
      run.signal(SIGSTOP)
      try await run.files.busy { files in
        for index in 0..<17_000 { try files.write("n", to: BytePath("n\(index % 2).txt")) }
      }
      run.signal(SIGCONT)
      let overflow = try await run.line { $0["message"]?.contains("overflow") == true }
      #expect(overflow != nil)
      let wait: Duration = .milliseconds(milliseconds)
      _ = try await poll(within: wait, every: .milliseconds(5)) { () -> Bool? in nil }
      #expect(try await run.ends(within: .seconds(60)))
    }
  }
}
