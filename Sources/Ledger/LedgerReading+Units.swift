import HandoffCore
package import HandoffProtocol
package import Paths
import SQLite

extension LedgerReading {
  /// The asset whose import, or whose package, last used up a sidecar at a path.
  package func lastConsumer(ofSidecar path: BytePath) async throws -> LocalIdentifier? {
    try await readings.queue.read { connection in
      try connection.first(UnitQueries.consumer, [.blob(path.bytes)]) { row in
        LocalIdentifier(try row.text(0))
      } ?? nil
    }
  }

  /// When a drop folder last imported from a path, whatever the path holds now; nil if it never did.
  package func lastImport(from path: BytePath) async throws -> Timestamp? {
    try await readings.queue.read { connection in
      try connection.first(
        UnitQueries.lastImport,
        [.blob(path.bytes), .blob(Sighting.byHand.bytes)]
      ) { row in Timestamp(milliseconds: try row.integer(0)) }
    }
  }
}

private enum UnitQueries {
  static let consumer = SQL(
    """
    SELECT a.identifier FROM sidecars AS s JOIN assets AS a ON a.id = s.asset
    WHERE s.path = ?1 ORDER BY s.consumed_at DESC LIMIT 1
    """
  )
  static let lastImport = SQL(
    "SELECT seen_at FROM sightings WHERE path = ?1 AND latest = 1 AND folder <> ?2"
  )
}
