import HandoffCore
import HandoffProtocol
import SQLite

extension LedgerTransaction {
  func assetKey(_ identifier: LocalIdentifier) throws -> OrderChecks.AssetKey? {
    try orderChecks.assetKey(identifier)
  }

  /// The rows of assets that can be handed off.
  func presentAssets(_ identifiers: [LocalIdentifier]) throws -> [Int64] {
    try orderChecks.presentAssets(identifiers)
  }

  /// The handoff with an idempotency key, if it asks for the same.
  func handoff(sameAs prepared: PreparedOrder) throws -> Int64? {
    try orderChecks.handoff(sameAs: prepared)
  }

  /// What is looked at before a handoff is made.
  var orderChecks: OrderChecks { OrderChecks(connection: connection) }

  /// The asset was handed off to the destination automatically, alone or with others, whatever became
  /// of it.
  func hasAutomaticHandoff(_ asset: Int64, _ destination: DestinationName) throws -> Bool {
    try connection.first(Self.findAutomatic, [.integer(asset), .text(destination.text)]) { _ in
      true
    } ?? false
  }

  /// The asset was deleted at any time, also where its content has come back since.
  func wasDeleted(_ asset: Int64) throws -> Bool {
    try connection.first(Self.findDeletion, [.integer(asset)]) { _ in true } ?? false
  }

  /// Makes a pending handoff with its token.
  func insert(_ prepared: PreparedOrder, assets: [Int64]) throws -> HandoffRow {
    let order = prepared.order
    let now = self.now
    let (id, digest) = try mintToken(random: prepared.random)
    var row = HandoffRow(prepared, id: id, tokenDigest: digest, now: now)
    let needsApproval = rules[row.destination]?.needsApproval == true
    // What it is ordered after counts first: it waits until this piece of work has made all of that.
    if rule(of: row.destination) != nil {
      row.wait(.init(.after), now: now)
    } else if needsApproval, row.dueAt != nil {
      // What waits for something else than a moment is looked at when it is claimed.
      row.wait(.init(.approval), now: now)
    }
    try connection.run(
      Self.insertHandoff,
      [
        .integer(id), .optional(row.key), prepared.bodyDigest.map(Value.blob) ?? .null,
        .text(row.destination), .text(row.status.rawValue), .optional(row.waitingReason),
        .optional(row.waitingUntil), .optional(row.dueAt), .optional(row.title),
        .flag(row.syncPublish), .optional(row.callbackID), .optional(row.metadata),
        .integer(row.protocolVersion), .flag(order.isAutomatic),
        order.isAutomatic ? .optional(assets.first) : .null, .integer(now),
        .optional(order.publishAt?.milliseconds), .optional(row.expiresAt),
        .blob(row.tokenRandom), .blob(digest), .text(row.identifiers),
        .flag(order.isExpiryMoment), .flag(order.isBackfill),
      ]
    )
    for (position, asset) in assets.enumerated() {
      try connection.run(
        Self.insertMember,
        [.integer(id), .integer(Int64(position)), .integer(asset)]
      )
    }
    try record(
      Event(
        at: now,
        kind: "created",
        handoff: id,
        destination: row.destination,
        to: row.status.rawValue,
        detail: row.waitingReason
      )
    )
    touch(row.destination)
    if needsApproval { try tellOfApprovals(row.destination) }
    noteCreation(of: row)
    return row
  }

  private static let findAutomatic = SQL(
    """
    SELECT 1 FROM handoff_assets AS ha JOIN handoffs AS h ON h.id = ha.handoff
    WHERE ha.asset = ?1 AND h.destination = ?2 AND h.automatic_asset IS NOT NULL
    UNION ALL SELECT 1 FROM past_handoffs
    WHERE asset = ?1 AND destination = ?2 AND was_automatic = 1
    LIMIT 1
    """
  )
  private static let findDeletion = SQL(
    "SELECT 1 FROM events WHERE asset = ?1 AND event = 'asset_deleted' LIMIT 1"
  )
  private static let insertHandoff = SQL(
    """
    INSERT INTO handoffs (id, key, body_digest, destination, status, waiting_reason, waiting_until,
      due_at, title, sync_publish, callback_id, metadata, protocol_version, is_automatic,
      automatic_asset, created_at, publish_at, expires_at, token_random, token_digest,
      local_identifiers, is_expiry_moment, priority)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
      ?20, ?21, ?22, ?23)
    """
  )
  private static let insertMember = SQL(
    "INSERT INTO handoff_assets (handoff, position, asset) VALUES (?1, ?2, ?3)"
  )
}
