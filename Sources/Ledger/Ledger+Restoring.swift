import Digests
package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Takes up a ledger that was restored from a backup, as one change: what was open then may have happened
  /// since, and what is older makes no handoff by itself.
  ///
  /// Handoffs that had not ended become `outcome_unknown`, and no receiver's word that it has not had one
  /// lets them be sent again: only a person does.
  ///
  /// - Parameters:
  ///   - moment: exports that are older are held; see ``LedgerNote/rebuilt``.
  ///   - hasNewKey: the key of the backup is lost. Open handoffs get new state tokens, and the chain of
  ///     events goes on under the new key.
  ///   - row: the number after which new handoffs begin, so that no receiver takes one for another that
  ///     was made after the backup.
  /// - Returns: those that had not ended.
  /// - Throws: where the ledger cannot be written; nothing is changed then.
  package func takeUp(
    restoredAt moment: Timestamp,
    hasNewKey: Bool,
    handoffsAfter row: Int64
  ) async throws -> [Handoff] {
    let rows = try await write { transaction in
      if hasNewKey { try transaction.beginChain() }
      try transaction.record(
        Event(at: transaction.now, kind: "ledger_restored", detail: "from a backup")
      )
      try transaction.note(.rebuilt, moment)
      try transaction.note(.resumed, nil)
      return try transaction.doubtOpenHandoffs(hasNewKey: hasNewKey)
    }
    if row > (try await lastHandoffRow()) { try await beginHandoffs(after: row) }
    return try rows.map { try Handoff($0) }
  }
}

extension LedgerTransaction {
  fileprivate func doubtOpenHandoffs(hasNewKey: Bool) throws -> [HandoffRow] {
    var rows = try connection.rows(RestoreQueries.open) { try HandoffRow($0) }
    for index in rows.indices {
      let row = rows[index]
      if row.status != .outcomeUnknown {
        try move(&rows[index], .restore) { row in
          row.leaveInDoubt()
          row.error = Self.doubt
          row.dueAt = nil
          // A moment from before would end it as expired, unseen.
          row.ceilingAt = nil
        }
      }
      try markRestored(row.id)
      if hasNewKey {
        let digest = try tokenDigest(row: row.id, random: row.tokenRandom)
        try connection.run(RestoreQueries.setDigest, [.integer(row.id), .blob(digest)])
      }
    }
    return rows
  }

  /// Nobody knows what became of it, and its receiver may not know either.
  func markRestored(_ handoff: Int64) throws {
    try connection.run(RestoreQueries.mark, [.integer(handoff), .integer(now)])
  }

  func isRestored(_ handoff: Int64) throws -> Bool {
    try connection.first(RestoreQueries.isMarked, [.integer(handoff)]) { _ in true } ?? false
  }

  /// A person has it tried again.
  func forgetRestored(_ handoff: Int64) throws {
    try connection.run(RestoreQueries.forget, [.integer(handoff)])
  }

  /// Before another attempt: the token that is made for it now is the one that is recognised, also where the
  /// handoff had ended under a key that is lost.
  func renewToken(of row: HandoffRow) throws {
    let digest = try tokenDigest(row: row.id, random: row.tokenRandom)
    guard !constantTimeEqual(digest, row.tokenDigest) else { return }
    try connection.run(RestoreQueries.setDigest, [.integer(row.id), .blob(digest)])
  }

  private static let doubt = HandoffRow.StoredError(
    ResultError(
      .interrupted,
      "the ledger was restored from a backup while it was open",
      effect: .unknown,
      remedy: "look at the destination, then `handoff adopt`, `retry` or `cancel`"
    ),
    .broker
  )
}

private enum RestoreQueries {
  static let open = SQL(
    "SELECT \(HandoffRow.columns) FROM handoffs WHERE finished_at IS NULL ORDER BY id"
  )
  static let setDigest = SQL("UPDATE handoffs SET token_digest = ?2 WHERE id = ?1")
  static let mark = SQL(
    "INSERT INTO restored_handoffs (handoff, restored_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
  )
  static let isMarked = SQL("SELECT 1 FROM restored_handoffs WHERE handoff = ?1")
  static let forget = SQL("DELETE FROM restored_handoffs WHERE handoff = ?1")
}
