package import HandoffProtocol
package import Paths
import SQLite

/// An original that is to be removed or moved once every handoff of its asset has succeeded.
package struct WaitingOriginal: Hashable, Sendable {
  package let path: BytePath
  /// The drop folder's path.
  package let folder: BytePath
  package let localIdentifier: LocalIdentifier
}

extension Ledger {
  /// Remembers that an original waits for its handoffs, or that nothing is to be done with it any more.
  ///
  /// An asset with one that waits is not deleted by its age.
  ///
  /// - Parameters:
  ///   - waits: whether it does now.
  ///   - path: the original.
  ///   - identifier: whose original it is.
  ///   - event: what is recorded where this is new; nil for nothing.
  /// - Throws: where the ledger cannot be written.
  package func setOriginalWaits(
    _ waits: Bool,
    at path: BytePath,
    of identifier: LocalIdentifier,
    event: String? = nil
  ) async throws {
    try await write { transaction in
      let changed = try transaction.connection.run(
        OriginalQueries.update,
        [.flag(waits), .blob(path.bytes), .text(identifier.text)]
      )
      guard changed > 0, let event, let asset = try transaction.assetKey(identifier) else { return }
      try transaction.record(
        Event(at: transaction.now, kind: event, asset: asset.row, detail: path.lossyText)
      )
    }
  }

  /// Lets go of originals in folders that do not wait any more, after a change of the configuration.
  package func forgetWaitingOriginals(outside folders: Set<BytePath>) async throws {
    for original in try await waitingOriginals() where !folders.contains(original.folder) {
      try await setOriginalWaits(false, at: original.path, of: original.localIdentifier)
    }
  }
}

extension LedgerReading {
  /// All originals that wait, the oldest first.
  package func waitingOriginals() async throws -> [WaitingOriginal] {
    try await readings.queue.read { connection in
      try connection.rows(OriginalQueries.waiting) { row in
        let path = BytePath(try row.blob(0))
        let folder = BytePath(try row.blob(1))
        return LocalIdentifier(try row.text(2)).map {
          WaitingOriginal(path: path, folder: folder, localIdentifier: $0)
        }
      }.compactMap(\.self)
    }
  }
}

private enum OriginalQueries {
  static let update = SQL(
    """
    UPDATE sightings SET original_waits = ?1
    WHERE path = ?2 AND asset = (SELECT id FROM assets WHERE identifier = ?3)
      AND original_waits <> ?1
    """
  )
  // The plus keeps the planner from walking the whole table in order of its rows.
  static let waiting = SQL(
    """
    SELECT s.path, s.folder, a.identifier FROM sightings AS s JOIN assets AS a ON a.id = s.asset
    WHERE s.original_waits = 1 ORDER BY +s.id
    """
  )
}
