package import HandoffCore
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
  let vitals: LedgerVitals
  private let headFile: HeadFile
  let handingOrder: OrderRules

  init(
    queue: TransactionQueue<LedgerTransaction>,
    readings: Readings,
    keys: LedgerKeys,
    vitals: LedgerVitals,
    headFile: HeadFile,
    handingOrder: OrderRules
  ) {
    self.vitals = vitals
    self.handingOrder = handingOrder
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
  ///   - onEndByOrder: told, on the ledger's own thread, of handoffs that a commit has ended because of
  ///     what they were ordered after; must not block.
  ///   - notices: who is told of what needs a person, and who delivers.
  ///   - logLimit: how many bytes the write-ahead log may have; nil for the usual 64 MiB.
  ///   - lockPatience: how long a call waits for another program that holds the ledger's lock.
  /// - Returns: the open ledger.
  /// - Throws: ``LedgerError`` for a network file system, a damaged, cut, vanished or newer ledger.
  package static func open(
    directory: BytePath,
    logger: Logger,
    now: @escaping @Sendable () -> Timestamp,
    bootClock: BootClock? = nil,
    crashLimit: Int = 3,
    onCommit: @escaping @Sendable (Set<DestinationName>) -> Void = { _ in },
    onEndByOrder: @escaping @Sendable ([Handoff.ID]) -> Void = { _ in },
    notices: NoticeRouting = .none,
    logLimit: Int64? = nil,
    lockPatience: Duration = .seconds(20)
  ) async throws -> Ledger {
    let thread = BlockingThread("ledger-reader")
    let ledger = try await thread.run {
      let files = LedgerFiles(directory)
      let opened = try OpenedLedger(files, lockPatience: lockPatience)
      let (keys, headFile) = (opened.keys, opened.headFile)
      let keeper = LogKeeper(files, limit: logLimit ?? LogKeeper.limit, logger: logger)
      let order = OrderRules()
      let transaction = try LedgerTransaction(
        opened.connection,
        keys: keys,
        headFile: headFile,
        logger: logger,
        now: now,
        bootClock: bootClock,
        crashLimit: crashLimit,
        onCommit: {
          keeper.committed()
          if !$0.isEmpty { onCommit($0) }
        },
        onEndByOrder: onEndByOrder,
        routing: notices,
        handingOrder: order
      )
      let queue = TransactionQueue(
        "ledger",
        context: transaction,
        connection: { $0.connection },
        hooks: LedgerTransaction.hooks
      )
      let reader = try Connection(files.database, .read, busyTimeout: lockPatience)
      return Ledger(
        queue: queue,
        readings: Readings(reader, on: thread, files: files, keys: keys),
        keys: keys,
        vitals: LedgerVitals(keeper: keeper, now: now),
        headFile: headFile,
        handingOrder: order
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
      try await vitals.keeper.close()
      try await queue.close()
      throw error
    }
    try await vitals.keeper.close()
    try await queue.close()
    try headFile.sync()
  }

  /// Runs a transition in a transaction that others may share.
  ///
  /// - Throws: ``LedgerError/damaged(_:detail:)`` once damage was found; what the work or SQLite says.
  func write<Value: Sendable>(
    _ work: @escaping @Sendable (LedgerTransaction) throws -> Value
  ) async throws -> Value {
    if let error = readings.damage.error { throw error }
    do {
      let value = try await queue.run { transaction in
        try transaction.prepare()
        let value = try work(transaction)
        try transaction.settleDependencies()
        return value
      }
      vitals.succeeded()
      return value
    } catch {
      vitals.failed(error)
      guard let failure = error as? SQLiteError else { throw error }
      readings.damage.note(failure)
      throw failure.isFull ? readings.files.named(failure) : failure
    }
  }
}

extension LedgerFiles {
  /// An error of a full disk that says which file system is full: people would look at the database.
  func named(_ error: SQLiteError) -> SQLiteError {
    let place: String
    do {
      place = "mounted at \(try MountPoint.above(database.parent)?.displayText ?? "/")"
    } catch {
      // The folder itself names it well enough.
      place = "of \(database.parent)"
    }
    let message = "the file system \(place) is full, and \(database) is on it"
    return SQLiteError(code: error.code, message: message, sql: error.sql)
  }
}
