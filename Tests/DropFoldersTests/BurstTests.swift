import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Very many files at once, and directories that move while it lasts.
@Suite("Bursts", .timeLimit(.minutes(5)))
struct BurstTests {
  @Test("a burst into many directories, some of which are moved away and removed, loses nothing")
  func burst() async throws {
    try await Burst(files: 10_000, directories: 200, seed: .random(in: 0...UInt64.max)).run()
  }

  @Test("directories that move between drop folders at random lose nothing and double nothing")
  func wanders() async throws {
    try await Wandering(steps: 1500, seed: .random(in: 0...UInt64.max)).run()
  }
}

/// The same, larger; see `make test-long`.
@Suite(
  "Watching LongTests",
  .enabled(if: environmentValue("HANDOFF_LONG") != nil),
  .timeLimit(.minutes(30))
)
struct WatchLongTests {
  @Test("100,000 files into 1,000 directories with the queue at its default")
  func burst() async throws {
    try await Burst(files: 100_000, directories: 1000, seed: .random(in: 0...UInt64.max)).run()
  }

  @Test("directories that move between drop folders at random", arguments: 0..<10)
  func wanders(round: Int) async throws {
    try await Wandering(steps: 5000, seed: .random(in: 0...UInt64.max)).run()
  }

  @Test("100,000 directories that come and go (case 108)")
  func forgetsDeadDirectories() async throws {
    try await WatchRun.with(["quiet=0"], inMemory: true) { run in
      try await run.makeAndRemove(folders: 2000)
      #expect(try await run.watches(become: 1))
      let before = try run.residentSize()
      try await run.makeAndRemove(folders: 100_000)
      try run.files.makeFolder("k7")
      try run.files.write("WHOLE", to: "k7/v.mp4")
      #expect(try await run.reaches("imported", "k7/v.mp4"))
      #expect(try await run.watches(become: 2))
      let growth = try run.residentSize() - before
      print("100,000 directories made and removed: \(growth) KiB more in memory")
      #expect(growth < 10 * 1024)
    }
  }
}

/// Files that are written as fast as two threads can, into directories of which every tenth is moved
/// away, every tenth removed and every tenth renamed while it lasts.
struct Burst {
  let files: Int
  let directories: Int
  let seed: UInt64

  func run() async throws {
    print("burst: \(files) files in \(directories) directories, seed \(seed)")
    try await WatchRun.with(["quiet=0", "brief=1"], inMemory: true) { run in
      let start = ContinuousClock.now
      let names = try await withThrowingTaskGroup { group in
        for half in 0..<2 {
          group.addTask { [files = run.files, away = run.outside("away")] in
            try await files.busy { try write($0, half: half, away: away) }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      let written = ContinuousClock.now
      let missing = try await run.missing(of: names, within: .seconds(240))
      let end = ContinuousClock.now
      #expect(missing.isEmpty)
      #expect(run.imports.values.allSatisfy { $0 == 1 })
      let last = try await run.folders(within: .seconds(60)) { $0.number("candidates") == 0 }
      #expect(last != nil)
      print(
        "burst: written in \(written - start), decided \(end - written) later, "
          + "\(last?.number("rescans") ?? -1) rescans, \(try run.processorTime()) s of processor time, "
          + "\(try run.residentSize()) KiB"
      )
    }
  }

  /// Gives the names of what is there in the end.
  private func write(_ files: DropFiles, half: Int, away: BytePath) throws -> [BytePath] {
    var generator = SeededGenerator(seed: seed &+ UInt64(half))
    try Directory.create(away)
    var names: [BytePath] = []
    for directory in stride(from: half, to: directories, by: 2) {
      let place = BytePath("t\(directory % 25)/d\(directory)")
      try files.makeFolder(place)
      let count = self.files / directories
      for index in 0..<count {
        try files.write("\(directory) \(index) WHOLE", to: place.appending("v\(index).mp4"))
      }
      var kept: BytePath? = place
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        files.remove(place)
        kept = nil
      case 1:
        try DurableFile.rename(files.folder.appending(place), to: away.appending("d\(directory)"))
        kept = nil
      case 2:
        let renamed = BytePath("t\(directory % 25)/r\(directory)")
        try files.rename(place, to: renamed)
        kept = renamed
      default:
        break
      }
      if let kept { names += (0..<count).map { kept.appending("v\($0).mp4") } }
    }
    return names
  }
}
