import HandoffCore
package import HandoffProtocol
package import Paths
import SQLite

extension LedgerReading {
  /// The asset that a person imported a file as by hand, if it is still the same file with the same
  /// content.
  package func identifier(
    takenByHandAt path: BytePath,
    identity: FileIdentity
  ) async throws -> LocalIdentifier? {
    try await readings.queue.read { connection in
      try connection.first(
        UnitQueries.byHand,
        [
          .blob(path.bytes), .integer(Int64(bitPattern: identity.device)),
          .integer(Int64(bitPattern: identity.inode)), .integer(identity.size),
          .integer(identity.modified), .integer(identity.changed), .blob(Sighting.byHand.bytes),
        ]
      ) { row in LocalIdentifier(try row.text(0)) } ?? nil
    }
  }

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
  static let byHand = SQL(
    """
    SELECT a.identifier FROM sightings AS s JOIN assets AS a ON a.id = s.asset
    WHERE s.path = ?1 AND s.latest = 1 AND s.device = ?2 AND s.inode = ?3 AND s.size = ?4
      AND s.mtime_ns = ?5 AND s.ctime_ns = ?6 AND s.folder = ?7
    """
  )
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
