import Digests
package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Takes over handoffs of the former ledger that had not ended, under their numbers, as
  /// `outcome_unknown`: whether they happened, only the destination knows.
  ///
  /// Their tokens are new, and their idempotency keys are taken for good. Assets that are not known any
  /// more are left out.
  ///
  /// - Parameters:
  ///   - handoffs: those that had not ended.
  ///   - moments: when their senders want them published: before it none is tried again.
  /// - Returns: how many have an asset that is known.
  /// - Throws: where the ledger cannot be written; nothing has changed then.
  package func carryOver(
    _ handoffs: [Handoff],
    publishAt moments: [Handoff.ID: Timestamp] = [:]
  ) async throws -> Int {
    let carried = try handoffs.map { handoff in
      CarriedHandoff(
        handoff: handoff,
        metadata: try handoff.metadata.map {
          String(decoding: try WireCoder.encode($0), as: UTF8.self)
        },
        random: try RandomBytes.make(count: TokenMint.randomCount),
        publishAt: moments[handoff.id]
      )
    }
    return try await write { transaction in
      try carried.count { try transaction.carryOver($0) }
    }
  }
}

private struct CarriedHandoff: Sendable {
  let handoff: Handoff
  /// JSON.
  let metadata: String?
  let random: [UInt8]
  let publishAt: Timestamp?
}

extension LedgerTransaction {
  fileprivate func carryOver(_ carried: CarriedHandoff) throws -> Bool {
    let handoff = carried.handoff
    let id = handoff.id.row
    let assets = try handoff.localIdentifiers.compactMap { identifier in
      try assetKey(identifier).map { (identifier, $0.row) }
    }
    guard !assets.isEmpty else { return false }
    try connection.run(
      CarryQueries.insert,
      [
        .integer(id), .optional(handoff.key), .text(handoff.destination.text),
        .text(assets.map(\.0.text).joined(separator: " ")),
        .text(HandoffStatus.outcomeUnknown.rawValue), .optional(handoff.title),
        .flag(handoff.syncPublish), .optional(handoff.callbackID?.text),
        .optional(carried.metadata), .integer(Int64(handoff.protocolVersion)),
        .integer(handoff.createdAt.milliseconds), .optional(handoff.submittedAt?.milliseconds),
        .integer(Int64(handoff.attempts)), .text(ErrorCode.interrupted.text),
        .text("the ledger was lost and rebuilt while it was open"), .blob(carried.random),
        .blob(try tokenDigest(row: id, random: carried.random)),
        .optional(carried.publishAt?.milliseconds),
      ]
    )
    for (position, asset) in assets.enumerated() {
      try connection.run(
        CarryQueries.insertMember,
        [.integer(id), .integer(Int64(position)), .integer(asset.1)]
      )
    }
    try markRestored(id)
    try record(
      Event(
        at: now,
        kind: "carried_over",
        handoff: id,
        destination: handoff.destination.text,
        from: handoff.status.rawValue,
        to: HandoffStatus.outcomeUnknown.rawValue
      )
    )
    return true
  }
}

private enum CarryQueries {
  static let insert = SQL(
    """
    INSERT INTO handoffs (id, key, destination, local_identifiers, status, title, sync_publish,
      callback_id, metadata, protocol_version, is_automatic, created_at, submitted_at, attempts,
      error_code, error_message, error_effect, error_retry, error_remedy, error_side, token_random,
      token_digest, publish_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11, ?12, ?13, ?14, ?15, 'unknown', 'never',
      'look at the destination, then `handoff adopt`, `retry` or `cancel`', 'broker', ?16, ?17, ?18)
    """
  )
  static let insertMember = SQL(
    "INSERT INTO handoff_assets (handoff, position, asset) VALUES (?1, ?2, ?3)"
  )
}
