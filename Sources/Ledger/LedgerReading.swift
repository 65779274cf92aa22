import HandoffProtocol
import LinuxSystem
package import Paths
import SQLite

/// What can be asked of a ledger, whether the broker has it open or a command reads beside it.
///
/// Every answer shows one committed state.
package protocol LedgerReading: Sendable {
  var readings: Readings { get }
}

/// The reading side of a ledger: one connection on a thread of its own.
package struct Readings: Sendable {
  let queue: ReadQueue
  let files: LedgerFiles
  /// Nil where the reader may not read the key.
  let keys: LedgerKeys?
  let damage: DamageWatch

  init(
    _ reader: sending Connection,
    on thread: BlockingThread,
    files: LedgerFiles,
    keys: LedgerKeys?
  ) {
    let damage = DamageWatch(files.database)
    queue = ReadQueue(reader, on: thread) { damage.note($0) }
    self.damage = damage
    self.files = files
    self.keys = keys
  }
}

/// A ledger that is only read, while the broker is down or up.
package final class LedgerReader: LedgerReading {
  package let readings: Readings

  init(_ readings: Readings) {
    self.readings = readings
  }

  /// Closes the connection.
  package func close() async throws {
    try await readings.queue.close()
  }
}

extension Ledger {
  /// Opens the ledger of a state folder for reading, while the broker is down or up.
  ///
  /// - Throws: ``LedgerError`` where there is none, or a newer or foreign one.
  package static func openForReading(directory: BytePath) async throws -> LedgerReader {
    let thread = BlockingThread("ledger-reader")
    return try await thread.run {
      let files = LedgerFiles(directory)
      try files.checkKinds()
      guard try files.size(of: files.database) ?? 0 > 0 else {
        // One that was there and is gone is not one that never was.
        throw try files.size(of: files.head) == nil
          ? LedgerError.missing(files.database) : LedgerError.vanished(files.database)
      }
      do {
        let connection = try Connection(
          files.database,
          .read,
          busyTimeout: OpenedLedger.busyTimeout
        )
        try connection.checkSchema(
          newest: Schema.migrations.count,
          applicationID: Schema.applicationID
        )
        let keys = try files.readableKey().map(LedgerKeys.init)
        return LedgerReader(Readings(connection, on: thread, files: files, keys: keys))
      } catch let error as SchemaError {
        throw LedgerError.unusable(files.database, detail: error.description)
      } catch let error as SQLiteError where error.isDamage {
        throw LedgerError.damaged(files.database, detail: error.message)
      }
    }
  }
}
