package import HandoffCore
package import HandoffProtocol
import SQLite

extension LedgerReading {
  /// The next notices of a callback id, in the order in which they are due: of each subject only the
  /// first that is pending.
  package func nextNotices(for callback: CallbackID, limit: Int) async throws -> [Notice] {
    try await notices(NoticeQueries.next, [.text(callback.text), .integer(Int64(limit))])
  }

  /// A notice, or nil.
  package func notice(_ id: Notice.ID) async throws -> Notice? {
    try await notices(NoticeQueries.byID, [.integer(id.row)]).first
  }

  /// The notices of a handoff, in order.
  package func notices(of handoff: Handoff.ID) async throws -> [Notice] {
    try await notices(NoticeQueries.ofSubject, [.text(handoff.description)])
  }

  /// Notices in a state, the oldest first.
  package func notices(_ state: Notice.State, limit: Int) async throws -> [Notice] {
    try await notices(NoticeQueries.inState, [.text(state.rawValue), .integer(Int64(limit))])
  }

  /// How many notices there are that have not reached their callback.
  package func countUndelivered() async throws -> [Notice.State: Int] {
    try await readings.queue.read { connection in
      var counts: [Notice.State: Int] = [:]
      try connection.forEach(NoticeQueries.count) { row in
        guard let state = Notice.State(rawValue: try row.text(0)) else { return }
        counts[state] = Int(try row.integer(1))
      }
      return counts
    }
  }

  private func notices(_ sql: SQL, _ values: [Value]) async throws -> [Notice] {
    let rows = try await readings.queue.read { connection in
      try connection.rows(sql, values) { row in try NoticeRow(row) }
    }
    return try rows.map { try Notice($0) }
  }
}

private enum NoticeQueries {
  static let next = SQL(
    """
    SELECT \(NoticeRow.columns) FROM notices AS n WHERE state = 'pending' AND callback = ?1
      AND NOT EXISTS (
        SELECT 1 FROM notices AS e WHERE e.state = 'pending' AND e.callback = ?1
          AND e.subject = n.subject AND e.id < n.id)
    ORDER BY due_at, id LIMIT ?2
    """
  )
  static let byID = SQL("SELECT \(NoticeRow.columns) FROM notices WHERE id = ?1")
  static let ofSubject = SQL(
    "SELECT \(NoticeRow.columns) FROM notices WHERE subject = ?1 ORDER BY id"
  )
  static let inState = SQL(
    "SELECT \(NoticeRow.columns) FROM notices WHERE state = ?1 ORDER BY id LIMIT ?2"
  )
  static let count = SQL(
    """
    SELECT 'pending', count(*) FROM notices WHERE state = 'pending'
    UNION ALL SELECT 'failed', count(*) FROM notices WHERE state = 'failed'
    """
  )
}
