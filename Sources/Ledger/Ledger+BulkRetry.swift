package import HandoffCore
package import HandoffProtocol
import SQLite

/// What became of one failed handoff when all were to be tried again.
package struct BulkRetry: Sendable {
  package let handoff: Handoff
  /// Why it is not tried again; nil where it is.
  package let leftOut: String?
}

extension Ledger {
  /// Has some of the failed handoffs tried again, in one transaction; those whose outcome is unknown are
  /// only told.
  ///
  /// Only what has certainly done nothing goes: a person looks at everything else first.
  ///
  /// - Parameters:
  ///   - destination: only to this one.
  ///   - configured: the destinations that there are.
  ///   - cursor: where to begin; nil for the beginning.
  ///   - isDryRun: nothing is changed.
  ///   - limit: at most so many, so that others do not wait long.
  /// - Returns: what was looked at, in order; nothing when there is no more.
  /// - Throws: where the ledger cannot be written.
  package func retryFailed(
    to destination: DestinationName?,
    configured: Set<DestinationName>,
    after cursor: Handoff.ID?,
    isDryRun: Bool,
    limit: Int = 100
  ) async throws -> [BulkRetry] {
    let names = Set(configured.map(\.text))
    let looked = try await write { transaction in
      var rows = try transaction.connection.rows(
        BulkQueries.failed,
        [
          .integer(cursor?.row ?? 0), .optional(destination?.text), .integer(Int64(limit)),
        ]
      ) { row in try HandoffRow(row) }
      var reasons: [String?] = []
      for index in rows.indices {
        let reason = try transaction.reasonNotToRetry(rows[index], among: names)
        reasons.append(reason)
        if reason == nil, !isDryRun { try transaction.tryAgain(&rows[index]) }
      }
      return zip(rows, reasons).map { ($0, $1) }
    }
    return try looked.map { row, reason in
      BulkRetry(handoff: try Handoff(row), leftOut: reason)
    }
  }
}

extension LedgerTransaction {
  fileprivate func reasonNotToRetry(
    _ row: HandoffRow,
    among names: Set<String>
  ) throws -> String? {
    if row.status == .outcomeUnknown { return "nobody knows whether it happened" }
    if suspects[row.id]?.isGivenUp == true {
      return "it was given up after crashes; retry it by itself"
    }
    if !names.contains(row.destination) { return "its destination is not configured any more" }
    if row.lateResults > 0 { return "a late result says that it may have happened" }
    switch row.error?.effect {
    case Effect.none.rawValue?: return try reasonToWaitInVain(row)
    case Effect.applied.rawValue?: return "it has left something at the destination"
    default: return "nobody knows what it has left at the destination"
    }
  }

  /// What it is ordered after has failed, or is not there.
  private func reasonToWaitInVain(_ row: HandoffRow) throws -> String? {
    switch try dependency(of: row) {
    case .met, .open: nil
    case .absent(let error), .failed(let error): error.message
    }
  }
}

private enum BulkQueries {
  static let failed = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs
    WHERE id > ?1 AND (?2 IS NULL OR destination = ?2)
      AND (status = 'failed' OR status = 'outcome_unknown')
    ORDER BY id LIMIT ?3
    """
  )
}
