import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Directories that are made, moved, put in the place of others and removed at random in two drop
/// folders, a nested one and outside, with a file in one of them now and then.
struct Wandering {
  let steps: Int
  let seed: UInt64

  /// Where it stands.
  fileprivate struct Walk: Sendable {
    /// The drop folders.
    let places: [BytePath]
    let outside: BytePath
    var generator: SeededGenerator
    /// Where directories were made, or moved to.
    var directories: [BytePath] = []
    var step = 0
  }

  func run() async throws {
    print("wandering: \(steps) steps, seed \(seed)")
    let also: [BytePath] = ["other", "drop/in/nested"]
    try await WatchRun.with(["quiet=0", "brief=1"], also: also, inMemory: true) { run in
      let places = [run.drop] + also.map { run.outside($0.lossyText) }
      let outside = run.outside("outside")
      try Directory.create(outside)
      var walk = Walk(
        places: places,
        outside: outside,
        generator: SeededGenerator(seed: seed)
      )
      while walk.step < steps {
        let count = Int.random(in: 1...40, using: &walk.generator)
        walk = try await run.files.busy { [walk] _ in
          var walk = walk
          for _ in 0..<count { try walk.go() }
          return walk
        }
        // Now and then the watcher comes so far in between.
        if Bool.random(using: &walk.generator) { _ = try await run.ask("folders") }
      }
      try await check(run, places)
    }
  }

  private func check(_ run: WatchRun, _ places: [BytePath]) async throws {
    let found = try places.map { try Self.contents(of: $0, except: places) }
    let missing = try await run.missing(of: found.flatMap(\.files))
    #expect(missing.isEmpty, "seed \(seed)")
    #expect(run.imports.values.allSatisfy { $0 == 1 }, "seed \(seed)")
    let expected = found.map { Int64($0.folders) }
    let folders = try await run.folders { folders in
      ([folders] + folders.others).map { $0.number("watches") } == expected
    }
    let files = found.reduce(0) { $0 + $1.files.count }
    print("wandering: \(files) files in \(expected) directories of three drop folders")
    #expect(folders != nil, "\(expected) directories, seed \(seed)")
    #expect(folders?["degraded"] == nil)
  }

  /// All files and the number of folders at and below a place, without other drop folders.
  private static func contents(
    of place: BytePath,
    except places: [BytePath]
  ) throws -> (files: [BytePath], folders: Int) {
    var files: [BytePath] = []
    var folders = 1
    for entry in try Directory.entries(of: place) {
      let path = place.appending(entry.name)
      if entry.kind == .directory {
        guard !places.contains(path) else { continue }
        let inner = try contents(of: path, except: places)
        files += inner.files
        folders += inner.folders
      } else {
        files.append(path)
      }
    }
    return (files, folders)
  }
}

extension Wandering.Walk {
  fileprivate mutating func go() throws {
    step += 1
    let parent = somewhere()
    // Few names, so that they come again and again.
    let name = BytePath("d\(Int.random(in: 0..<8, using: &generator))")
    let target = parent.appending(name)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<3:
      if mkdir(target.nulTerminated, 0o755) == 0 { directories.append(target) }
    case 3..<6:
      guard let moved = directories.randomElement(using: &generator) else { return }
      // Onto an empty directory it replaces that one; onto another it fails, which is as good.
      if rename(moved.nulTerminated, target.nulTerminated) == 0 { directories.append(target) }
    case 6:
      guard let removed = directories.randomElement(using: &generator) else { return }
      if try FileStatus.of(removed)?.kind == .directory { removeTree(removed) }
    default:
      guard try FileStatus.of(parent)?.kind == .directory else { return }
      try DropFiles(folder: parent).write("\(step) WHOLE", to: BytePath("v\(step).mp4"))
    }
  }

  private mutating func somewhere() -> BytePath {
    if Bool.random(using: &generator),
      let directory = directories.randomElement(using: &generator),
      directory.components.count < 12
    {
      return directory
    }
    return (places + [outside]).randomElement(using: &generator) ?? outside
  }
}
