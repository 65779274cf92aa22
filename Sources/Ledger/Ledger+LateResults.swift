package import HandoffCore
package import HandoffProtocol
import SQLite

/// A result that came after its handoff had ended without one: kept, and changing nothing by itself.
package struct LateResult: Sendable {
  package let at: Timestamp
  /// `success`, `cancelled` or `failure`.
  package let kind: String
  package let output: [String: JSONValue]
  package let errorCode: ErrorCode?
  package let errorMessage: String?
}

extension Ledger {
  /// Takes a handoff for succeeded because an operator says so; a late success gives its output.
  ///
  /// - Throws: ``LedgerError/illegal(_:_:)`` for an ended handoff of which no success came late, as
  ///   for every status from which there is no success.
  package func adopt(_ id: Handoff.ID) async throws -> Handoff {
    let row = try await write { transaction in
      var row = try transaction.row(id)
      let late = try transaction.lateSuccess(id.row)
      if row.status.isFinal, late == nil {
        throw LedgerError.illegal(id, IllegalTransition(row.status, .adopt))
      }
      let now = transaction.now
      try transaction.move(&row, .adopt) { row in
        row.result = "success"
        row.error = nil
        row.output = late?.output ?? row.output
        row.consumedAt = now
      }
      return row
    }
    return try Handoff(row)
  }
}

extension LedgerReading {
  /// The results of a handoff that came after its end, in the order in which they came.
  package func lateResults(of id: Handoff.ID) async throws -> [LateResult] {
    try await readings.queue.read { connection in
      try connection.rows(LateQueries.ofHandoff, [.integer(id.row)]) { row in
        let output = try row.optionalText(2)
        return LateResult(
          at: Timestamp(milliseconds: try row.integer(0)),
          kind: try row.text(1),
          output: try output.map { try WireCoder.decode([String: JSONValue].self, from: $0.utf8) }
            ?? [:],
          errorCode: try row.optionalText(3).map { ErrorCode($0) },
          errorMessage: try row.optionalText(4)
        )
      }
    }
  }

  /// Ended handoffs of which a success came late that nobody has adopted, the newest first.
  package func unadoptedSuccesses(limit: Int) async throws -> [Handoff] {
    let rows = try await readings.queue.read { connection in
      try connection.rows(LateQueries.unadopted, [.integer(Int64(limit))]) { row in
        try HandoffRow(row)
      }
    }
    return try rows.map { try Handoff($0) }
  }
}

extension LedgerTransaction {
  fileprivate struct LateSuccess {
    /// JSON.
    let output: String?
  }

  /// The newest success that came after the end.
  fileprivate func lateSuccess(_ handoff: Int64) throws -> LateSuccess? {
    try connection.first(LateQueries.success, [.integer(handoff)]) { row in
      LateSuccess(output: try row.optionalText(0))
    }
  }
}

private enum LateQueries {
  static let success = SQL(
    """
    SELECT output FROM received_results WHERE handoff = ?1 AND result = 'success'
      AND verdict = 'late' ORDER BY id DESC LIMIT 1
    """
  )
  static let ofHandoff = SQL(
    """
    SELECT received_at, result, output, error_code, error_message FROM received_results
    WHERE handoff = ?1 AND verdict = 'late' ORDER BY id
    """
  )
  static let unadopted = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs
    WHERE late_results > 0 AND status IN ('expired', 'cancelled', 'failed')
      AND EXISTS (SELECT 1 FROM received_results WHERE handoff = handoffs.id
        AND result = 'success' AND verdict = 'late')
    ORDER BY id DESC LIMIT ?1
    """
  )
}
