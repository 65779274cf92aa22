import FoundationEssentials
import LinuxSystem
import Paths

/// Prints figures of Handoff's parts: `handoff-bench ledger [AT_ONCE LIVES]`,
/// `handoff-bench watch [DIRECTORIES]`, `handoff-bench prune [HANDOFFS]`, `handoff-bench archive [MEBIBYTES]`.
@main
struct Benchmarks {
  static func main() async throws {
    // As the broker does: glibc's trim and mmap churn would cost a third.
    keepFreedMemory()
    let arguments = CommandLine.arguments.dropFirst()
    switch arguments.first {
    case "ledger", nil:
      let numbers = arguments.dropFirst().compactMap { Int($0) }
      let sizes = numbers.count == 2 ? [(numbers[0], numbers[1])] : LedgerBenchmark.sizes
      try await LedgerBenchmark.run(sizes)
    case "watch":
      try SignalMask.blockAtStart()
      let count = arguments.dropFirst().first.flatMap { Int($0) }
      try await withFolder { folder in
        try await WatchBenchmark.run(count ?? WatchBenchmark.directories, in: folder)
      }
    case "prune":
      let count = arguments.dropFirst().first.flatMap { Int($0) }
      try await withFolder { folder in try await PruneBenchmark.run(count ?? 100_000, in: folder) }
    case "archive":
      let count = arguments.dropFirst().first.flatMap { Int($0) } ?? ArchiveBenchmark.mebibytes
      try await withFolder { folder in try await ArchiveBenchmark.run(count, in: folder) }
    case let other?:
      print("no benchmark is named \(other); there are: ledger, watch, prune, archive")
    }
  }
}

/// Makes a folder for one benchmark, and removes it with all that is in it.
func withFolder(_ work: (BytePath) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("handoff-bench-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  do {
    try await work(BytePath(folder.path))
  } catch {
    try FileManager.default.removeItem(at: folder)
    throw error
  }
  try FileManager.default.removeItem(at: folder)
}
