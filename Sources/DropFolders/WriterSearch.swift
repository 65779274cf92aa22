import HandoffCore
import LinuxSystem
import Paths

/// Says who has files open for writing, on a thread of its own, as far as that can be known.
actor WriterSearch {
  /// More are counted and not named.
  private static let namedAtMost = 3

  private let thread = BlockingThread("writers")

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// One sentence for each file, which a process is known to have open for writing.
  func sentences(for paths: [BytePath]) -> [BytePath: String] {
    guard !paths.isEmpty else { return [:] }
    let found = FileWriters.find(paths)
    let sentences = paths.map { ($0, Self.sentence(found.processes[$0] ?? [], found)) }
    return Dictionary(sentences) { first, _ in first }
  }

  private static func sentence(
    _ processes: [FileWriters.Process],
    _ found: FileWriters.Found
  ) -> String {
    guard !processes.isEmpty else {
      let cause =
        found.hidden > 0
        ? "\(found.hidden) processes of other users could not be looked into"
        : found.wasCutShort
          ? "there are too many to look at" : "it shows in no process's descriptors"
      return "open for writing by a process that cannot be named: \(cause)"
    }
    let named = processes.prefix(namedAtMost)
      .map { "\($0.command.displayText) (pid \($0.id))" }
      .joined(separator: ", ")
    let rest = processes.count - namedAtMost
    return "open for writing by \(named)" + (rest > 0 ? " and \(rest) more" : "")
  }
}
