package import HandoffCore
package import HandoffProtocol
import SQLite

/// What deleting an asset has changed in the ledger.
package struct Deletion: Sendable {
  /// Handoffs that had not been sent; they have ended as `asset_deleted`.
  package let ended: [Handoff]
  /// Handoffs that a receiver may hold, or that wait for a person: only their grants end.
  ///
  /// What becomes of them is still the receiver's or the person's to say.
  package let open: [Handoff]
  /// It had been deleted before, and nothing was changed.
  package let wasDeleted: Bool
}

extension Ledger {
  /// Deletes an asset: it stays as a tombstone, and its bytes may be removed from now on.
  ///
  /// - Parameters:
  ///   - identifier: the asset.
  ///   - force: also where it has open handoffs.
  ///   - reason: who or what wants it, for people.
  /// - Returns: which handoffs that touches.
  /// - Throws: ``LedgerError/pinned(_:_:)`` where it has open handoffs and is not forced.
  package func delete(
    _ identifier: LocalIdentifier,
    force: Bool,
    reason: String
  ) async throws -> Deletion {
    let rows = try await write { transaction in
      try transaction.delete(identifier, force: force, reason: reason)
    }
    return Deletion(
      ended: try rows.ended.map { try Handoff($0) },
      open: try rows.open.map { try Handoff($0) },
      wasDeleted: rows.wasDeleted
    )
  }

  /// Deletes what nobody has needed since a moment: present, without an open handoff, without an
  /// original that waits for its handoffs.
  ///
  /// An asset is needed when it is imported or seen again, and until the last of its handoffs ends.
  ///
  /// - Parameters:
  ///   - moment: what was needed later stays.
  ///   - limit: look at no more than so many at once.
  ///   - reason: for people.
  /// - Returns: the deleted ones, and whether there may be more.
  /// - Throws: where the ledger cannot be written; nothing is deleted then.
  package func deleteUnused(
    since moment: Timestamp,
    limit: Int,
    reason: String
  ) async throws -> (deleted: [LocalIdentifier], isMore: Bool) {
    try await write { transaction in
      try transaction.deleteUnused(since: moment.milliseconds, limit: limit, reason: reason)
    }
  }

  /// Records that the bytes of a deleted asset and of its renditions are gone for certain.
  ///
  /// - Returns: false where it is not deleted any more, or that was known.
  @discardableResult
  package func recordRemoval(of identifier: LocalIdentifier) async throws -> Bool {
    try await write { transaction in
      guard let known = try transaction.assetKey(identifier) else {
        throw LedgerError.unknownAsset(identifier)
      }
      let now = transaction.now
      let written = try transaction.connection.run(
        DeletionQueries.recordRemoval,
        [.integer(now), .integer(known.row)]
      )
      guard written > 0 else { return false }
      try transaction.forgetRenditions(of: known.row)
      try transaction.record(Event(at: now, kind: "bytes_removed", asset: known.row))
      return true
    }
  }
}

extension LedgerReading {
  /// Deleted assets whose bytes may still be there, the first deleted first.
  package func unremovedAssets(limit: Int) async throws -> [LocalIdentifier] {
    try await readings.queue.read { connection in
      try connection.rows(DeletionQueries.unremoved, [.integer(Int64(limit))]) { row in
        LocalIdentifier(try row.text(0))
      }.compactMap(\.self)
    }
  }

  /// When the asset was needed last that ``Ledger/deleteUnused(since:limit:reason:)`` comes to next, or
  /// earlier; nil where none may be deleted.
  package func longestUnused() async throws -> Timestamp? {
    try await readings.queue.read { connection in
      try connection.first(DeletionQueries.longestUnused) { row in try row.integer(0) }
        .map(Timestamp.init(milliseconds:))
    }
  }
}

extension LedgerTransaction {
  struct DeletedRows: Sendable {
    var ended: [HandoffRow] = []
    var open: [HandoffRow] = []
    var wasDeleted = false
  }

  func delete(
    _ identifier: LocalIdentifier,
    force: Bool,
    reason: String
  ) throws -> DeletedRows {
    guard let known = try assetKey(identifier) else { throw LedgerError.unknownAsset(identifier) }
    guard known.status != Asset.Status.deleted.rawValue else {
      return DeletedRows(wasDeleted: true)
    }
    let rows = try connection.rows(DeletionQueries.open, [.integer(known.row)]) { row in
      try HandoffRow(row)
    }
    guard force || rows.isEmpty else {
      throw LedgerError.pinned(identifier, rows.map(\.handoffID))
    }
    var deleted = DeletedRows()
    for var row in rows {
      switch row.status {
      case .pending, .leased:
        let never = RetryTerms(policy: nil, jitter: 0)
        let error = ResultError(
          .assetDeleted,
          "the asset was deleted before it was handed off",
          effect: .none,
          localIdentifier: identifier
        )
        _ = try fail(&row, error, .broker, never, isAnswer: false)
        deleted.ended.append(row)
      case .submitted, .accepted, .outcomeUnknown, .needsUser, .succeeded, .cancelled, .refused,
        .failed, .expired:
        deleted.open.append(row)
      }
    }
    try setStatus(.deleted, of: known.row, detail: reason)
    return deleted
  }

  fileprivate func deleteUnused(
    since moment: Int64,
    limit: Int,
    reason: String
  ) throws -> (deleted: [LocalIdentifier], isMore: Bool) {
    let found = try connection.rows(
      DeletionQueries.unused,
      [.integer(moment), .integer(Int64(limit))]
    ) { row in
      (id: try row.integer(0), name: try row.text(1), lastEnd: try row.optionalInteger(2) ?? 0)
    }
    var deleted: [LocalIdentifier] = []
    for asset in found {
      if asset.lastEnd > moment {
        // Remembered, so that it is not looked at again before it is its turn.
        try connection.run(DeletionQueries.postpone, [.integer(asset.lastEnd), .integer(asset.id)])
      } else if let identifier = LocalIdentifier(asset.name) {
        try setStatus(.deleted, of: asset.id, detail: reason)
        deleted.append(identifier)
      }
    }
    return (deleted, found.count == limit)
  }
}

private enum DeletionQueries {
  static let open = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE finished_at IS NULL
      AND id IN (SELECT handoff FROM handoff_assets WHERE asset = ?1)
    ORDER BY id
    """
  )
  private static let mayGo = """
    a.status = 'present'
      AND NOT EXISTS (SELECT 1 FROM sightings WHERE asset = a.id AND original_waits = 1)
      AND NOT EXISTS (
        SELECT 1 FROM handoff_assets AS ha JOIN handoffs AS h ON h.id = ha.handoff
        WHERE ha.asset = a.id AND h.finished_at IS NULL)
    """
  static let unused = SQL(
    """
    SELECT a.id, a.identifier, (
      SELECT max (h.finished_at) FROM handoff_assets AS ha JOIN handoffs AS h ON h.id = ha.handoff
      WHERE ha.asset = a.id)
    FROM assets AS a WHERE \(mayGo) AND a.used_at <= ?1 ORDER BY a.used_at LIMIT ?2
    """
  )
  static let longestUnused = SQL(
    "SELECT a.used_at FROM assets AS a WHERE \(mayGo) ORDER BY a.used_at LIMIT 1"
  )
  static let postpone = SQL("UPDATE assets SET used_at = ?1 WHERE id = ?2")
  static let unremoved = SQL(
    """
    SELECT identifier FROM assets WHERE status = 'deleted' AND bytes_gone_at IS NULL
    ORDER BY id LIMIT ?1
    """
  )
  static let recordRemoval = SQL(
    """
    UPDATE assets SET bytes_gone_at = ?1
    WHERE id = ?2 AND status = 'deleted' AND bytes_gone_at IS NULL
    """
  )
}
