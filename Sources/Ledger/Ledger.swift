import HandoffCore
package import HandoffLog
package import HandoffProtocol
import LinuxSystem
package import Paths
import SQLite

/// The database of assets, handoffs, state tokens, results and expiries.
///
/// Every method that changes something returns once the change is durable. Many at once share a
/// commit. Nothing here blocks the caller's thread. After a failed commit an error is thrown and
/// nothing is kept; after a crash between commit and answer the change is there, and whoever repeats
/// the call finds it done.
package final class Ledger: LedgerReading {
  let queue: TransactionQueue<LedgerTransaction>
  package let readings: Readings
  let keys: LedgerKeys
  private let headFile: HeadFile

  init(
    queue: TransactionQueue<LedgerTransaction>,
    readings: Readings,
    keys: LedgerKeys,
    headFile: HeadFile
  ) {
    self.queue = queue
    self.readings = readings
    self.keys = keys
    self.headFile = headFile
  }

  /// Opens the ledger of a state folder, and makes it where there has never been one.
  ///
  /// The caller holds the folder's lock: there is one broker for each ledger.
  ///
  /// - Parameters:
  ///   - directory: the state folder, which must exist.
  ///   - logger: told of what does not fail a call.
  ///   - now: the time that is recorded; called on the ledger's own thread.
  ///   - bootClock: tells when the wall clock is set, so that deadlines move with it; without it they do
  ///     not.
  ///   - crashLimit: after so many crashes with it in flight a handoff is given up; 0 for never.
  ///   - onCommit: told, on the ledger's own thread, of the destinations whose handoffs a commit
  ///     made or moved; must not block.
  ///   - notices: who is told of what needs a person, and who delivers.
  /// - Returns: the open ledger.
  /// - Throws: ``LedgerError`` for a network file system, a damaged, cut, vanished or newer ledger.
  package static func open(
    directory: BytePath,
    logger: Logger,
    now: @escaping @Sendable () -> Timestamp,
    bootClock: BootClock? = nil,
    crashLimit: Int = 3,
    onCommit: @escaping @Sendable (Set<DestinationName>) -> Void = { _ in },
    notices: NoticeRouting = .none
  ) async throws -> Ledger {
    let thread = BlockingThread("ledger-reader")
    let ledger = try await thread.run {
      let files = LedgerFiles(directory)
      let opened = try OpenedLedger(files)
      let (keys, headFile) = (opened.keys, opened.headFile)
      let transaction = try LedgerTransaction(
        opened.connection,
        keys: keys,
        headFile: headFile,
        logger: logger,
        now: now,
        bootClock: bootClock,
        crashLimit: crashLimit,
        onCommit: onCommit,
        routing: notices
      )
      let queue = TransactionQueue(
        "ledger",
        context: transaction,
        connection: { $0.connection },
        hooks: LedgerTransaction.hooks
      )
      let reader = try Connection(files.database, .read, busyTimeout: OpenedLedger.busyTimeout)
      return Ledger(
        queue: queue,
        readings: Readings(ReadQueue(reader, on: thread), files: files, keys: keys),
        keys: keys,
        headFile: headFile
      )
    }
    // From here on the clock is followed: time that passes before the first write is nobody's.
    if bootClock != nil { try await ledger.write { _ in } }
    return ledger
  }

  /// Waits for the work that was handed in, then closes; later calls throw.
  package func close() async throws {
    try await readings.queue.close()
    do {
      try await queue.run { try $0.endLife() }
    } catch {
      // What the ledger refuses now it has said before; its files are closed all the same.
      try await queue.close()
      throw error
    }
    try await queue.close()
    try headFile.sync()
  }

  /// Runs a transition in a transaction that others may share.
  func write<Value: Sendable>(
    _ work: @escaping @Sendable (LedgerTransaction) throws -> Value
  ) async throws -> Value {
    try await queue.run { transaction in
      try transaction.prepare()
      return try work(transaction)
    }
  }
}
