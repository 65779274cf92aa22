import HandoffLog
import LinuxSystem
import Paths
import SQLite
import Synchronization

/// How large the ledger's write-ahead log is.
package struct LogCondition: Hashable, Sendable {
  /// The file's size.
  package let bytes: Int64
  /// Above it the log is folded into the ledger and its file emptied.
  package let limit: Int64
  /// It is above the limit because a reader, one of another program, keeps what it began with: a log only
  /// shrinks once nobody reads from it.
  package let isHeld: Bool
}

/// Keeps the write-ahead log bounded.
///
/// SQLite folds the log by itself at each commit after 4,000 pages, and begins it anew once no reader uses
/// it. With readers that follow each other without a pause that moment need not come; so above the limit the
/// keeper makes it: it folds beside the writer, then holds the writer back for a moment and lets the
/// readers run out. One that does not end, it waits for no longer than that.
final class LogKeeper: Sendable {
  /// Above this many bytes the log is emptied.
  static let limit: Int64 = 64 << 20

  private let files: LedgerFiles
  private let limit: Int64
  private let logger: Logger
  private let thread = BlockingThread("ledger-log")
  private let commits = Atomic<Int>(0)
  private let isLooking = Atomic<Bool>(false)
  // SAFETY: used on `thread` only, which is serial; and by deinit.
  nonisolated(unsafe) private var connection: Connection?
  nonisolated(unsafe) private var isHeld = false
  nonisolated(unsafe) private var nextTry = ContinuousClock.now

  private static let commitsBetweenLooks = 64
  /// How long writers may be held back, and how seldom.
  private static let patience = Duration.milliseconds(100)
  private static let rest = Duration.seconds(5)
  /// Above this the rest of the folding is no matter of a moment.
  private static let mostPagesAtOnce: Int64 = 4_000

  init(_ files: LedgerFiles, limit: Int64, logger: Logger) {
    self.files = files
    self.limit = limit
    self.logger = logger
  }

  /// Looks, on a thread of its own, after every so many commits.
  func committed() {
    let count = commits.add(1, ordering: .relaxed).newValue
    guard count.isMultiple(of: Self.commitsBetweenLooks),
      !isLooking.exchange(true, ordering: .acquiring)
    else { return }
    thread.start {
      _ = self.look()
      self.isLooking.store(false, ordering: .releasing)
    }
  }

  /// Looks now, and says how it is after that.
  func condition() async -> LogCondition {
    await thread.run { self.look() }
  }

  /// Ends it; the ledger's own connection must still be open.
  func close() async throws {
    try await thread.run {
      try self.connection?.close()
      self.connection = nil
    }
  }

  private func look() -> LogCondition {
    do {
      if try size() > limit, ContinuousClock.now >= nextTry { try fold() }
      let bytes = try size()
      note(isHeld: bytes > limit)
      return LogCondition(bytes: bytes, limit: limit, isHeld: bytes > limit)
    } catch {
      logger.warning("The ledger's write-ahead log was not folded", [.error: "\(error)"])
      return LogCondition(bytes: -1, limit: limit, isHeld: isHeld)
    }
  }

  private func fold() throws {
    let connection =
      try self.connection ?? Connection(files.database, .write, busyTimeout: Self.patience)
    self.connection = connection
    guard let folded = try connection.fold(), folded.logged >= 0 else { return }
    // What a reader holds cannot be folded, and writers need not wait to find that out.
    if folded.logged - folded.folded <= Self.mostPagesAtOnce { _ = try connection.emptyLog() }
    if try size() > limit { nextTry = .now.advanced(by: Self.rest) }
  }

  private func size() throws -> Int64 { try files.size(of: files.log) ?? 0 }

  private func note(isHeld: Bool) {
    guard isHeld != self.isHeld else { return }
    self.isHeld = isHeld
    if isHeld {
      logger.warning(
        "A reader of another program keeps the ledger's write-ahead log from shrinking",
        [.path: files.log.displayText]
      )
    } else {
      logger.info("The ledger's write-ahead log has shrunk", [.path: files.log.displayText])
    }
  }
}
