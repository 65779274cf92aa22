package import HandoffCore
package import HandoffProtocol
import SQLite

/// What the ledger knows of the object of one asset.
package struct ObjectKnowledge: Hashable, Sendable {
  package let localIdentifier: LocalIdentifier
  package let digest: ContentDigest
  /// Bytes.
  package let size: Int64
  package let status: Asset.Status
  package let importedAt: Timestamp
  /// Nil where it was never read again.
  package let verifiedAt: Timestamp?
  /// The modification time, in nanoseconds, of the object that was found good.
  package let modified: Int64?
}

/// How many assets, and how many bytes.
package struct AssetTotals: Hashable, Sendable {
  package var count = 0
  package var bytes: Int64 = 0

  package init(count: Int = 0, bytes: Int64 = 0) {
    self.count = count
    self.bytes = bytes
  }
}

/// When the library's objects were read, as a whole.
package struct VerificationOutlook: Hashable, Sendable {
  /// Of all assets that are not deleted.
  package let totals: AssetTotals
  /// Of the one that was longest not read: when that was, or its import.
  package let oldest: Timestamp?
  /// The last reading of any.
  package let newest: Timestamp?
}

extension LedgerReading {
  /// What the ledger knows of an asset's object.
  package func objectKnowledge(of identifier: LocalIdentifier) async throws -> ObjectKnowledge? {
    try await readings.queue.read { connection in
      try connection.first(Queries.one, [.text(identifier.text)], ObjectKnowledge.init)
    }
  }

  /// Assets that are not deleted and were not read again since a moment, the longest unread first.
  package func unread(since moment: Timestamp, limit: Int) async throws -> [ObjectKnowledge] {
    try await readings.queue.read { connection in
      try connection.rows(
        Queries.unread,
        [.integer(moment.milliseconds), .integer(Int64(limit))],
        ObjectKnowledge.init
      )
    }
  }

  /// The asset that is to be read next by age; nil where there is none.
  package func longestUnread() async throws -> ObjectKnowledge? {
    try await readings.queue.read { connection in
      try connection.first(Queries.longestUnread, [], ObjectKnowledge.init)
    }
  }

  /// How much is left to read again since a moment.
  package func unreadTotals(since moment: Timestamp) async throws -> AssetTotals {
    try await readings.queue.read { connection in
      try connection.first(Queries.unreadTotals, [.integer(moment.milliseconds)]) { row in
        AssetTotals(count: Int(try row.integer(0)), bytes: try row.integer(1))
      } ?? AssetTotals()
    }
  }

  package func verificationOutlook() async throws -> VerificationOutlook {
    try await readings.queue.read { connection in
      let outlook = try connection.first(Queries.outlook) { row in
        VerificationOutlook(
          totals: AssetTotals(count: Int(try row.integer(0)), bytes: try row.integer(1)),
          oldest: try row.optionalInteger(2).map(Timestamp.init(milliseconds:)),
          newest: try row.optionalInteger(3).map(Timestamp.init(milliseconds:))
        )
      }
      return outlook ?? VerificationOutlook(totals: AssetTotals(), oldest: nil, newest: nil)
    }
  }

  /// The assets with a status.
  package func objects(with status: Asset.Status) async throws -> [ObjectKnowledge] {
    try await readings.queue.read { connection in
      try connection.rows(Queries.byStatus, [.text(status.rawValue)], ObjectKnowledge.init)
    }
  }

  /// The statuses of those contents that are assets; `present` for one that a living asset has as a
  /// rendition, whatever it is besides.
  package func statuses(
    of digests: [ContentDigest]
  ) async throws -> [ContentDigest: Asset.Status] {
    try await readings.queue.read { connection in
      var found: [ContentDigest: Asset.Status] = [:]
      for digest in digests {
        let values = [Value.text(LocalIdentifier(digest).text), .blob(digest.bytes)]
        let status = try connection.first(Queries.status, values) { row in try row.text(0) }
        if let status { found[digest] = Asset.Status(rawValue: status) }
        if status == nil || found[digest] == .deleted,
          try connection.first(RenditionQueries.living, [.blob(digest.bytes)], { _ in true })
            == true
        {
          found[digest] = .present
        }
      }
      return found
    }
  }
}

extension ObjectKnowledge {
  init(_ row: borrowing Row) throws {
    guard let identifier = LocalIdentifier(try row.text(0)),
      let digest = ContentDigest(try row.blob(1)),
      let status = Asset.Status(rawValue: try row.text(3))
    else { throw UnreadableRow(id: try row.integer(7), column: "identifier, digest or status") }
    self.init(
      localIdentifier: identifier,
      digest: digest,
      size: try row.integer(2),
      status: status,
      importedAt: Timestamp(milliseconds: try row.integer(4)),
      verifiedAt: try row.optionalInteger(5).map(Timestamp.init(milliseconds:)),
      modified: try row.optionalInteger(6)
    )
  }
}

/// The statements of the reading side.
private enum Queries {
  private static let columns =
    "identifier, digest, size, status, imported_at, verified_at, object_mtime_ns, id"
  private static let isUnread = "ifnull (verified_at, imported_at) < ?1 AND status <> 'deleted'"
  private static let byAge = "ORDER BY ifnull (verified_at, imported_at), id"

  static let one = SQL("SELECT \(columns) FROM assets WHERE identifier = ?1")
  static let unread = SQL("SELECT \(columns) FROM assets WHERE \(isUnread) \(byAge) LIMIT ?2")
  static let longestUnread = SQL(
    "SELECT \(columns) FROM assets WHERE status <> 'deleted' \(byAge) LIMIT 1"
  )
  static let unreadTotals = SQL(
    "SELECT count(*), ifnull (sum(size), 0) FROM assets WHERE \(isUnread)"
  )
  static let outlook = SQL(
    """
    SELECT count(*), ifnull (sum(size), 0), min (ifnull (verified_at, imported_at)),
      max (verified_at)
    FROM assets WHERE status <> 'deleted'
    """
  )
  static let byStatus = SQL("SELECT \(columns) FROM assets WHERE status = ?1 ORDER BY id")
  static let status = SQL("SELECT status FROM assets WHERE identifier = ?1 AND digest = ?2")
}
