import Digests
package import HandoffCore
package import HandoffProtocol
import SQLite

/// How many of each there are.
package struct LedgerCounts: Hashable, Sendable {
  package var handoffs: [HandoffStatus: Int] = [:]
  package var assets: [Asset.Status: Int] = [:]
}

extension LedgerReading {
  /// A handoff, or nil.
  package func handoff(_ id: Handoff.ID) async throws -> Handoff? {
    try await rows(HandoffQueries.byID, [.integer(id.row)]).first
  }

  /// Handoffs, the newest first.
  ///
  /// - Parameters:
  ///   - status: only with this one.
  ///   - destination: only to this one.
  ///   - since: only those made at or after this moment.
  ///   - limit: at most so many.
  /// - Returns: those that fit all of it.
  /// - Throws: ``SQLiteError``, as every reading does.
  package func handoffs(
    status: HandoffStatus? = nil,
    destination: DestinationName? = nil,
    since: Timestamp? = nil,
    limit: Int = .max
  ) async throws -> [Handoff] {
    try await rows(
      HandoffQueries.list,
      [
        .optional(status?.rawValue), .optional(destination?.text),
        .optional(since?.milliseconds), .integer(Int64(limit)),
      ]
    )
  }

  /// All handoffs of an asset, the newest first.
  package func handoffs(ofAsset identifier: LocalIdentifier) async throws -> [Handoff] {
    try await rows(HandoffQueries.ofAsset, [.text(identifier.text)])
  }

  /// The handoffs that pin an asset: those that have not ended.
  package func openHandoffs(ofAsset identifier: LocalIdentifier) async throws -> [Handoff] {
    try await handoffs(ofAsset: identifier).filter { !$0.status.isFinal }
  }

  /// How many handoffs and assets there are in each status.
  package func counts() async throws -> LedgerCounts {
    try await readings.queue.read { connection in
      var counts = LedgerCounts()
      try connection.forEach(HandoffQueries.countHandoffs) { row in
        guard let status = HandoffStatus(rawValue: try row.text(0)) else { return }
        counts.handoffs[status] = Int(try row.integer(1))
      }
      try connection.forEach(HandoffQueries.countAssets) { row in
        guard let status = Asset.Status(rawValue: try row.text(0)) else { return }
        counts.assets[status] = Int(try row.integer(1))
      }
      return counts
    }
  }

  /// How many handoffs wait for each destination that any waits for.
  package func pendingCounts() async throws -> [DestinationName: Int] {
    try await readings.queue.read { connection in
      var counts: [DestinationName: Int] = [:]
      try connection.forEach(HandoffQueries.countPending) { row in
        guard let destination = DestinationName(try row.text(0)) else { return }
        counts[destination] = Int(try row.integer(1))
      }
      return counts
    }
  }

  private func rows(_ sql: SQL, _ values: [Value]) async throws -> [Handoff] {
    let rows = try await readings.queue.read { connection in
      try connection.rows(sql, values) { row in try HandoffRow(row) }
    }
    return try rows.map { try Handoff($0) }
  }
}

extension Ledger {
  /// The handoff whose state token this is, whoever brings it; nil where it is nobody's.
  package func handoff(of state: StateToken) async throws -> Handoff? {
    guard let id = TokenMint.row(of: state) else { return nil }
    let digest = try TokenMint.digest(of: state.revealed)
    let row = try await readings.queue.read { connection in
      try connection.first(HandoffQueries.byID, [.integer(id)]) { row in try HandoffRow(row) }
    }
    guard let row, constantTimeEqual(row.tokenDigest, digest) else { return nil }
    return try Handoff(row)
  }

  /// One handoff with its request as it is sent, or nil.
  package func sent(_ id: Handoff.ID) async throws -> ClaimedHandoff? {
    try claimed(
      try await readings.queue.read { connection in
        try connection.rows(HandoffQueries.byID, [.integer(id.row)]) { row in try HandoffRow(row) }
      }
    ).first
  }

  /// What a destination's receiver may hold: submitted, accepted, waiting for a person and of unknown
  /// outcome, with the requests as they were sent, to be reconciled or probed.
  package func openHandoffs(destination: DestinationName) async throws -> [ClaimedHandoff] {
    try claimed(
      try await readings.queue.read { connection in
        try connection.rows(HandoffQueries.open, [.text(destination.text)]) { row in
          try HandoffRow(row)
        }
      }
    )
  }
}

/// The statements of the reading side.
private enum HandoffQueries {
  static let byID = SQL("SELECT \(HandoffRow.columns) FROM handoffs WHERE id = ?1")
  static let list = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs
    WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR destination = ?2)
      AND (?3 IS NULL OR created_at >= ?3)
    ORDER BY id DESC LIMIT ?4
    """
  )
  static let ofAsset = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE id IN (
      SELECT ha.handoff FROM handoff_assets AS ha JOIN assets AS a ON a.id = ha.asset
      WHERE a.identifier = ?1)
    ORDER BY id DESC
    """
  )
  static let open = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE destination = ?1
      AND status IN ('submitted', 'accepted', 'needs_user', 'outcome_unknown')
      AND finished_at IS NULL AND status <> 'pending'
      AND id NOT IN (SELECT handoff FROM suspects WHERE given_up_at IS NOT NULL)
    ORDER BY id
    """
  )
  static let countHandoffs = SQL("SELECT status, count(*) FROM handoffs GROUP BY status")
  static let countPending = SQL(
    "SELECT destination, count(*) FROM handoffs WHERE status = 'pending' GROUP BY destination"
  )
  static let countAssets = SQL("SELECT status, count(*) FROM assets GROUP BY status")
}
