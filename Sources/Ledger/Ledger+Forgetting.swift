package import HandoffProtocol
import SQLite

extension Ledger {
  /// Forgets what the tokens of ended handoffs were made from, so that nothing makes them again.
  ///
  /// Each is still recognised by its digest for as long as its row is there: a second or late result is
  /// told from a foreign one. A failed handoff keeps all of it, since another attempt has the same token.
  ///
  /// - Parameter moment: of those that ended before it.
  /// - Returns: how many; only so many at a time that others need not wait for it.
  /// - Throws: where the ledger cannot be written.
  @discardableResult
  package func forgetTokens(endedBefore moment: Timestamp) async throws -> Int {
    try await write { transaction in
      try transaction.connection.run(ForgettingQueries.forget, [.integer(moment.milliseconds)])
    }
  }
}

private enum ForgettingQueries {
  static let forget = SQL(
    """
    UPDATE handoffs SET token_random = zeroblob (24) WHERE id IN (
      SELECT id FROM handoffs WHERE finished_at < ?1 AND finished_at IS NOT NULL
        AND status <> 'failed'
        AND token_random <> x'000000000000000000000000000000000000000000000000'
      ORDER BY finished_at LIMIT 500)
    """
  )
}
