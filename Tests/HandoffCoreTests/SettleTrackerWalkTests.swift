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
  /// The version that its marker was written for.
  var markedVersion: Int64 = -1
  /// Its last content came by a rename.
  var isRenamed = false
  /// It lies there since before the folder was seen.
  var isExisting = false

  /// Old for a file that was there before, and later for every later version.
  var identity: FileIdentity {
    let changed = (WalkMode.firstSeen.milliseconds + version) * 1_000_000
    return FileIdentity(
      device: 1,
      inode: UInt64(version + 1),
      size: version,
      // A rename changes the inode after the last write.
      modified: isRenamed ? changed - 1 : changed,
      changed: changed
    )
  }

  func finding(_ mode: WalkMode) -> CandidateFinding {
    guard exists else { return .gone }
    if isOpen { return .openForWriting("the walk") }
    let isWhole = parts == 10
    // What must be proven declares no end, so that nothing else can take the proof's place.
    let whole: ProbeVerdict.Judgement =
      mode == .auto || mode == .existing ? .complete : .notProvable
    let beside: ProofFinding =
      mode == .marker
      ? (markedVersion == version ? .present("marker") : .missing("marker")) : .notAsked
    let verdict = TrackerBench.verdict(isWhole || mode == .unmarked ? whole : .incomplete)
    return .judged(verdict, identity, .lease, beside)
  }
}

/// What the folder of a walk asks for.
private enum WalkMode: CaseIterable, CustomTestStringConvertible {
  case auto
  case marker
  case rename
  case existing
  /// A rename is asked for, and half a file looks like a whole one.
  case unmarked

  static let firstSeen = Timestamp(milliseconds: 1_600_000_000_000)

  var testDescription: String { "\(self)" }

  func apply(to rules: inout SettleTracker.Rules) {
    switch self {
    case .auto: return
    case .marker: rules.proof = .marker
    case .rename, .unmarked: rules.proof = .rename
    case .existing: rules.ignoredUpTo = Self.firstSeen
    }
  }

  var wantsRename: Bool { self == .rename || self == .unmarked }
}

@Suite("SettleTracker against a naive oracle")
struct SettleTrackerWalkTests {
  private static let quiet: Duration = .milliseconds(500)

  @Test(
    "imports nothing early or unproven, and in the end everything once",
    arguments: UInt64(1)...40,
    WalkMode.allCases
  )
  private func walk(seed: UInt64, mode: WalkMode) throws {
    var random = SeededGenerator(seed: seed)
    var bench = TrackerBench(quiet: Self.quiet, giveUp: .seconds(3), mode.apply)
    var files = Array(repeating: WrittenFile(), count: 6)
    var inFlight: [(file: Int, isImport: Bool, version: Int64)] = []
    if mode == .existing {
      for index in 0..<3 {
        files[index].exists = true
        files[index].parts = 10
        files[index].isExisting = true
        bench.observe(name(index), .listed(files[index].identity))
      }
    }

    for _ in 0..<600 {
      bench.now += .milliseconds(Int.random(in: 0...200, using: &random))
      act(on: Int.random(in: files.indices, using: &random), mode, &files, &bench, &random)
      begin(files, &bench, &inFlight)
      if !inFlight.isEmpty, Int.random(in: 0..<3, using: &random) > 0 {
        try end(
          inFlight.remove(at: Int.random(in: inFlight.indices, using: &random)),
          mode,
          &files,
          &bench,
          &inFlight
        )
      }
    }
    // All writers end; whoever exists is completed.
    for index in files.indices where files[index].exists && !files[index].isExisting {
      files[index].parts = 10
      files[index].isOpen = false
      if mode.wantsRename {
        rename(index, &files, &bench)
      } else {
        change(index, &files, &bench, closed: true)
      }
      mark(index, mode, &files, &bench)
    }
    while let due = inFlight.isEmpty ? bench.tracker.nextDue : bench.now {
      bench.now = max(bench.now, due)
      begin(files, &bench, &inFlight)
      while !inFlight.isEmpty { try end(inFlight.removeFirst(), mode, &files, &bench, &inFlight) }
    }
    for file in files {
      // A file that was there before is left alone until it changes.
      if file.isExisting { #expect(file.importedVersions.isEmpty) }
      if file.exists, !file.isExisting { #expect(file.importedVersions.last == file.version) }
      #expect(Set(file.importedVersions).count == file.importedVersions.count)
    }
    let rest = bench.tracker.reports.filter { !$0.path.bytes.ends(with: ".done") }
    #expect(rest.map(\.path) == files.indices.filter { files[$0].isExisting }.map { path($0) })
    #expect(rest.allSatisfy { $0.state == .ignored })
  }

  private func path(_ index: Int) -> BytePath { TrackerBench.path(name(index)) }

  private func name(_ index: Int) -> String { "f\(index).mp4" }

  private func change(
    _ index: Int,
    _ files: inout [WrittenFile],
    _ bench: inout TrackerBench,
    closed: Bool
  ) {
    files[index].version += 1
    files[index].lastEvent = bench.now
    files[index].isRenamed = false
    files[index].isExisting = false
    bench.observe(name(index), .changed(closed: closed))
  }

  private func rename(_ index: Int, _ files: inout [WrittenFile], _ bench: inout TrackerBench) {
    files[index].version += 1
    files[index].lastEvent = bench.now
    files[index].exists = true
    files[index].isOpen = false
    files[index].parts = 10
    files[index].isRenamed = true
    files[index].isExisting = false
    bench.observe(name(index), .renamed(closedSince: false))
  }

  /// Its writer says that it is finished.
  private func mark(
    _ index: Int,
    _ mode: WalkMode,
    _ files: inout [WrittenFile],
    _ bench: inout TrackerBench
  ) {
    guard mode == .marker else { return }
    files[index].markedVersion = files[index].version
    bench.observe(name(index) + ".done", .changed(closed: true))
  }

  private func act(
    on index: Int,
    _ mode: WalkMode,
    _ files: inout [WrittenFile],
    _ bench: inout TrackerBench,
    _ random: inout SeededGenerator
  ) {
    switch Int.random(in: 0..<12, using: &random) {
    case 0 where files[index].exists && !files[index].isOpen:
      files[index].exists = false
      files[index].isExisting = false
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
      bench.observe(name(index), .listed(files[index].identity))
    case 8 where mode.wantsRename:
      rename(index, &files, &bench)
    case 9 where files[index].exists && files[index].parts == 10 && !files[index].isOpen:
      mark(index, mode, &files, &bench)
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
    _ mode: WalkMode,
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
      let known = CandidateFinding.known(identifier, file.identity)
      #expect(bench.examined(name(job.file), known) == .wait)
      return
    }
    let finding = file.isExisting ? .existing : file.finding(mode)
    guard bench.examined(name(job.file), finding) == .importNow else { return }
    // The second: only a whole file that nobody writes is imported, and with the proof that is asked for.
    #expect(file.exists && !file.isOpen && file.parts == 10 && !file.isExisting)
    #expect(mode != .marker || file.markedVersion == file.version)
    #expect(!mode.wantsRename || file.isRenamed)
    inFlight.append((job.file, true, file.version))
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
