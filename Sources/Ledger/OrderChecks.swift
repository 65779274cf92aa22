import HandoffCore
import HandoffProtocol
import SQLite

/// What the ledger looks at before it makes a handoff, in whatever transaction: the one that makes it, or
/// one that only reads, for who wants to know whether it would.
struct OrderChecks {
  let connection: Connection

  /// The earlier handoff that an order is answered with; nil where a new one may be made.
  ///
  /// - Throws: ``LedgerError`` for what is refused.
  func earlier(_ prepared: PreparedOrder, again: Bool) throws -> HandoffRow? {
    if let same = try handoff(sameAs: prepared) { return try row(same) }
    let assets = try presentAssets(prepared.order.localIdentifiers)
    if !again, let standing = try standing(assets, prepared.order.destination) {
      throw LedgerError.alreadySucceeded(standing.handoffID, standing.status)
    }
    if !again, let past = try pastStanding(assets, prepared.order.destination) {
      throw LedgerError.alreadySucceeded(past.id, past.status)
    }
    return nil
  }

  /// The row with a number, or nil.
  func row(_ id: Int64) throws -> HandoffRow? {
    try connection.first(Self.readRow, [.integer(id)]) { row in try HandoffRow(row) }
  }

  /// What a transition needs to know of an asset.
  struct AssetKey {
    let row: Int64
    let digest: [UInt8]
    let status: String
  }

  func assetKey(_ identifier: LocalIdentifier) throws -> AssetKey? {
    try connection.first(Self.findAsset, [.text(identifier.text)]) { row in
      AssetKey(row: try row.integer(0), digest: try row.blob(1), status: try row.text(2))
    }
  }

  /// The rows of assets that can be handed off.
  func presentAssets(_ identifiers: [LocalIdentifier]) throws -> [Int64] {
    try identifiers.map { identifier in
      guard let key = try assetKey(identifier) else { throw LedgerError.unknownAsset(identifier) }
      guard key.status != Asset.Status.deleted.rawValue else {
        throw LedgerError.assetDeleted(identifier)
      }
      return key.row
    }
  }

  /// The handoff with an idempotency key, if it asks for the same.
  func handoff(sameAs prepared: PreparedOrder) throws -> Int64? {
    guard let key = prepared.order.key, let body = prepared.bodyDigest else { return nil }
    let found = try connection.first(Self.findKey, [.text(key)]) { row in
      (id: try row.integer(0), body: row.isNull(1) ? [] : try row.blob(1))
    }
    guard let found else { return nil }
    guard found.body == body else { throw LedgerError.keyReused(Handoff.ID(row: found.id)) }
    return found.id
  }

  /// A handoff of one of the assets to the destination that has succeeded or may still: all but those
  /// that ended with nothing done there, as far as anybody knows, and of which no result came later.
  func standing(_ assets: [Int64], _ destination: DestinationName) throws -> HandoffRow? {
    for asset in assets {
      let earlier = try connection.first(
        Self.findStanding,
        [.integer(asset), .text(destination.text)]
      ) { row in try row.integer(0) }
      if let earlier { return try row(earlier) }
    }
    return nil
  }

  private static let findAsset = SQL("SELECT id, digest, status FROM assets WHERE identifier = ?1")
  private static let findKey = SQL("SELECT id, body_digest FROM handoffs WHERE key = ?1")
  private static let findStanding = SQL(
    """
    SELECT h.id FROM handoff_assets AS ha JOIN handoffs AS h ON h.id = ha.handoff
    WHERE ha.asset = ?1 AND h.destination = ?2 AND h.status <> 'refused'
      AND (h.status <> 'cancelled' OR ifnull (h.error_effect, 'none') <> 'none'
        OR h.late_results > 0)
      AND (h.error_effect IS NOT 'none' OR h.late_results > 0
        OR (h.status <> 'failed' AND h.status <> 'expired'))
    LIMIT 1
    """
  )
  private static let readRow = SQL("SELECT \(HandoffRow.columns) FROM handoffs WHERE id = ?1")
}
