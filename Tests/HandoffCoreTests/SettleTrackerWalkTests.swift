import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Paths
import Testing

/// A file as it really is, and what may happen to it: the naive truth that the tracker is held against.
private struct WrittenFile {
  var exists = false
  var isOpen = false
  /// How much of ten parts is there; ten parts are whole.
  var parts = 0
  var version: Int64 = 0
  var lastEvent: Duration = .zero
  var importedVersions: [Int64] = []

  var finding: CandidateFinding {
    guard exists else { return .gone }
    if isOpen { return .openForWriting("the walk") }
    let identity = TrackerBench.identity(version)
    return .judged(TrackerBench.verdict(parts == 10 ? .complete : .incomplete), identity, .lease)
  }
}

@Suite("SettleTracker against a naive oracle")
struct SettleTrackerWalkTests {
  private static let quiet: Duration = .milliseconds(500)

  @Test("imports nothing early, and in the end everything once", arguments: UInt64(1)...60)
  func walk(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var bench = TrackerBench(quiet: Self.quiet, giveUp: .seconds(3))
    var files = Array(repeating: WrittenFile(), count: 6)
    var inFlight: [(file: Int, isImport: Bool, version: Int64)] = []

    for _ in 0..<600 {
      bench.now += .milliseconds(Int.random(in: 0...200, using: &random))
      act(on: Int.random(in: files.indices, using: &random), &files, &bench, &random)
      begin(files, &bench, &inFlight)
      if !inFlight.isEmpty, Int.random(in: 0..<3, using: &random) > 0 {
        try end(
          inFlight.remove(at: Int.random(in: inFlight.indices, using: &random)),
          &files,
          &bench,
          &inFlight
        )
      }
    }
    // All writers end; whoever exists is completed.
    for index in files.indices where files[index].exists {
      files[index].parts = 10
      files[index].isOpen = false
      change(index, &files, &bench, closed: true)
    }
    while let due = inFlight.isEmpty ? bench.tracker.nextDue : bench.now {
      bench.now = max(bench.now, due)
      begin(files, &bench, &inFlight)
      while !inFlight.isEmpty { try end(inFlight.removeFirst(), &files, &bench, &inFlight) }
    }
    for file in files {
      if file.exists { #expect(file.importedVersions.last == file.version) }
      #expect(Set(file.importedVersions).count == file.importedVersions.count)
    }
    #expect(bench.tracker.reports.isEmpty)
  }

  private func name(_ index: Int) -> String { "f\(index).mp4" }

  private func change(
    _ index: Int,
    _ files: inout [WrittenFile],
    _ bench: inout TrackerBench,
    closed: Bool
  ) {
    files[index].version += 1
    files[index].lastEvent = bench.now
    bench.observe(name(index), .changed(closed: closed))
  }

  private func act(
    on index: Int,
    _ files: inout [WrittenFile],
    _ bench: inout TrackerBench,
    _ random: inout SeededGenerator
  ) {
    switch Int.random(in: 0..<10, using: &random) {
    case 0 where files[index].exists && !files[index].isOpen:
      files[index].exists = false
      files[index].parts = 0
      bench.observe(name(index), .vanished)
    case 1, 2, 3:
      files[index].exists = true
      if files[index].parts == 10 { files[index].parts = 0 }
      files[index].isOpen = true
      files[index].parts += 1
      change(index, &files, &bench, closed: false)
    case 4,
      5 where files[index].isOpen:
      files[index].isOpen = false
      change(index, &files, &bench, closed: true)
    case 6 where files[index].isOpen:
      files[index].parts = 10
      files[index].isOpen = false
      change(index, &files, &bench, closed: true)
    case 7 where files[index].exists:
      bench.observe(name(index), .listed(TrackerBench.identity(files[index].version)))
    default:
      return
    }
  }

  private func begin(
    _ files: [WrittenFile],
    _ bench: inout TrackerBench,
    _ inFlight: inout [(file: Int, isImport: Bool, version: Int64)]
  ) {
    for due in bench.due() {
      guard let index = files.indices.first(where: { name($0) == due }) else { continue }
      // The oracle's first rule: no look before the quiet period has passed.
      #expect(bench.now - files[index].lastEvent >= Self.quiet || files[index].lastEvent == .zero)
      inFlight.append((index, false, files[index].version))
    }
  }

  private func end(
    _ job: (file: Int, isImport: Bool, version: Int64),
    _ files: inout [WrittenFile],
    _ bench: inout TrackerBench,
    _ inFlight: inout [(file: Int, isImport: Bool, version: Int64)]
  ) throws {
    let file = files[job.file]
    let identifier = try #require(TrackerBench.identifier)
    if job.isImport {
      // The library compares before and after: what changed in between is given up.
      guard file.exists, file.version == job.version, !file.isOpen else {
        return bench.imported(name(job.file), .changed)
      }
      files[job.file].importedVersions.append(job.version)
      return bench.imported(name(job.file), .imported(identifier))
    }
    if file.exists, !file.isOpen, file.importedVersions.contains(file.version) {
      let known = CandidateFinding.known(identifier, TrackerBench.identity(file.version))
      #expect(bench.examined(name(job.file), known) == .wait)
      return
    }
    guard bench.examined(name(job.file), file.finding) == .importNow else { return }
    // The second: only a whole file that nobody writes is imported.
    #expect(file.exists && !file.isOpen && file.parts == 10)
    inFlight.append((job.file, true, file.version))
  }
}
