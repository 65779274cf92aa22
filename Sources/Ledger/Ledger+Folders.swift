import HandoffCore
package import HandoffProtocol
package import Paths
import SQLite

extension Ledger {
  /// The moment at which a drop folder was seen for the first time, which is now if it never was.
  ///
  /// What was in the folder before is never published by itself.
  package func firstSeen(folder: BytePath) async throws -> Timestamp {
    try await write { transaction in
      let name = Value.text("folder:" + folder.bytes.hexDigits)
      try transaction.connection.run(FolderQueries.remember, [name, .integer(transaction.now)])
      let moment = try transaction.connection.first(FolderQueries.recall, [name]) { row in
        try row.integer(0)
      }
      return Timestamp(milliseconds: moment ?? transaction.now)
    }
  }
}

extension LedgerTransaction {
  /// A folder counts as seen since the earliest sighting that its files' records have.
  func recordFirstSeen(_ sighting: Sighting) throws {
    guard sighting.folder != Sighting.byHand else { return }
    let name = Value.text("folder:" + sighting.folder.bytes.hexDigits)
    try connection.run(FolderQueries.antedate, [name, .integer(sighting.seenAt.milliseconds)])
  }
}

private enum FolderQueries {
  static let antedate = SQL(
    """
    INSERT INTO meta (name, value) VALUES (?1, ?2)
    ON CONFLICT DO UPDATE SET value = min (value, ?2)
    """
  )
  static let remember = SQL("INSERT OR IGNORE INTO meta (name, value) VALUES (?1, ?2)")
  static let recall = SQL("SELECT value FROM meta WHERE name = ?1")
}
