import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// Writes exports into drop folders in every way that exporters are known to, from a seed, and logs
/// what is true of each; or, as `hang FROM TO`, copies and keeps the file open until it is killed.
@main
enum Program {
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    if words.first == "hang" { return try await hang(Array(words.dropFirst())) }
    try await run(Order(Array(words)))
  }

  private static func hang(_ words: [String]) async throws {
    let bytes = try FileDescriptor.open(BytePath(words[0]), O_RDONLY).readAll(limit: 1 << 26)
    let file = try FileDescriptor.open(BytePath(words[1]), O_WRONLY | O_CREAT, mode: 0o644)
    try file.write(bytes)
    try await Task.sleep(for: .seconds(600))
  }

  private static func run(_ order: Order) async throws {
    let imports = Imports(program: order.program, configuration: order.configuration)
    var templates: [TortureVideo: [UInt8]] = [:]
    for kind in TortureVideo.allCases {
      templates[kind] = try await kind.template(in: order.scratch)
    }
    let shared = ExportWriter.Shared(
      truth: try Truth(order.truth),
      imports: imports,
      templates: templates,
      scratch: order.scratch,
      pace: order.pace
    )
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        do { try await imports.follow() } catch is CancellationError {}
        return false
      }
      var running = 0
      for number in 0..<order.writers {
        if running == order.concurrency {
          while try await group.next() == false {}
          running -= 1
        }
        running += 1
        group.addTask {
          try await write(number, order, shared)
          return true
        }
      }
      while running > 0 {
        if try await group.next() == true { running -= 1 }
      }
      group.cancelAll()
    }
  }

  private static func write(
    _ number: Int,
    _ order: Order,
    _ shared: ExportWriter.Shared
  ) async throws {
    let folder = order.folders[number % order.folders.count]
    let home = folder.appending("group \(number / 7)").appending("writer-\(number)")
    try makeFolders(home)
    let seed = order.seed &+ UInt64(number) &* 0x9E37_79B9
    var writer = ExportWriter(
      shared: shared,
      number: number,
      home: home,
      random: SeededGenerator(seed: seed)
    )
    // What ffmpeg has written is read again, which only a folder that keeps its files allows.
    let scenarios = Scenario.allCases.filter { folder == order.folders[0] || !$0.isRealTime }
    let scenario = scenarios[(number / order.folders.count) % scenarios.count]
    writer.scenario = scenario.rawValue
    try await scenario.run(&writer)
  }

  private static func makeFolders(_ path: BytePath) throws {
    if try FileStatus.of(path.parent) == nil { try makeFolders(path.parent) }
    if mkdir(path.nulTerminated, 0o755) != 0, errno != EEXIST { throw SystemError.last("mkdir") }
  }
}

/// The ways of writing.
enum Scenario: String, CaseIterable {
  case slowCopy, renamed, synced, preallocated, cycles, oldTime, resumed, folderMovedIn
  case rewritten, renamedLater, twice, deleted, truncated, killed
  case realTime, realTimeKilled

  var isRealTime: Bool { self == .realTime || self == .realTimeKilled }

  func run(_ writer: inout ExportWriter) async throws {
    switch self {
    case .slowCopy: try await writer.slowCopy()
    case .renamed: try await writer.renamed()
    case .synced: try await writer.synced()
    case .preallocated: try await writer.preallocated()
    case .cycles: try await writer.cycles()
    case .oldTime: try await writer.oldTime()
    case .resumed: try await writer.resumed()
    case .folderMovedIn: try await writer.folderMovedIn()
    case .rewritten: try await writer.rewritten()
    case .renamedLater: try await writer.renamedLater()
    case .twice: try await writer.twice()
    case .deleted: try await writer.deleted()
    case .truncated: try await writer.truncated()
    case .killed: try await writer.killed()
    case .realTime: try await writer.realTime()
    case .realTimeKilled: try await writer.realTimeKilled()
    }
  }
}

/// The command line: `NAME=VALUE` words.
struct Order: Sendable {
  let seed: UInt64
  let writers: Int
  let concurrency: Int
  /// The first one keeps its files.
  let folders: [BytePath]
  let scratch: BytePath
  let truth: BytePath
  let program: BytePath
  let configuration: BytePath
  let pace: ExportWriter.Pace

  init(_ words: [String]) throws {
    var values: [Substring: String] = [:]
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1)
      values[parts[0]] = String(parts[1])
    }
    func text(_ name: Substring) throws -> String {
      guard let value = values[name] else { throw TestSupportError("\(name)= is missing") }
      return value
    }
    func number(_ name: Substring) throws -> Int {
      guard let value = Int(try text(name)) else { throw TestSupportError("\(name)= is odd") }
      return value
    }
    seed = UInt64(try number("seed"))
    writers = try number("writers")
    concurrency = try number("concurrency")
    folders = try text("folders").split(separator: ":").map { BytePath(String($0)) }
    scratch = BytePath(try text("scratch"))
    truth = BytePath(try text("truth"))
    program = BytePath(try text("program"))
    configuration = BytePath(try text("configuration"))
    pace = ExportWriter.Pace(
      quiet: .milliseconds(try number("quiet")),
      longestStall: .milliseconds(try number("stall")),
      patience: .seconds(90)
    )
  }
}
