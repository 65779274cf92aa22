package import HandoffCore
package import HandoffProtocol
import SQLite

/// One entry of the append-only record of what happened.
package struct LedgerEvent: Hashable, Sendable {
  /// Counts from 1 without a gap.
  package let sequence: Int64
  package let at: Timestamp
  /// What happened: `imported`, `created`, `claimed`, `submitted`, `succeeded` and so on.
  package let kind: String
  package let handoff: Handoff.ID?
  package let asset: LocalIdentifier?
  package let destination: DestinationName?
  package let from: HandoffStatus?
  package let to: HandoffStatus?
  package let attempt: Int?
  /// For people.
  package let detail: String?

  fileprivate init(_ row: borrowing Row) throws {
    sequence = try row.integer(0)
    at = Timestamp(milliseconds: try row.integer(1))
    kind = try row.text(2)
    handoff = try row.optionalInteger(3).map { Handoff.ID(row: $0) }
    asset = try row.optionalText(4).flatMap { LocalIdentifier($0) }
    destination = try row.optionalText(5).flatMap { DestinationName($0) }
    from = try row.optionalText(6).flatMap(HandoffStatus.init)
    to = try row.optionalText(7).flatMap(HandoffStatus.init)
    attempt = try row.optionalInteger(8).map { Int($0) }
    detail = try row.optionalText(9)
  }
}

extension LedgerReading {
  /// What happened to a handoff, in order.
  package func history(of id: Handoff.ID) async throws -> [LedgerEvent] {
    try await events(HistoryQueries.ofHandoff, [.integer(id.row)])
  }

  /// What happened to an asset and to its handoffs, in order.
  package func history(of identifier: LocalIdentifier) async throws -> [LedgerEvent] {
    try await events(HistoryQueries.ofAsset, [.text(identifier.text)])
  }

  private func events(_ sql: SQL, _ values: [Value]) async throws -> [LedgerEvent] {
    try await readings.queue.read { connection in
      try connection.rows(sql, values) { row in try LedgerEvent(row) }
    }
  }
}

private enum HistoryQueries {
  private static let columns = """
    e.seq, e.at, e.event, e.handoff, (SELECT identifier FROM assets WHERE id = e.asset),
    e.destination, e.from_status, e.to_status, e.attempt, e.detail
    """
  static let ofHandoff = SQL(
    "SELECT \(columns) FROM events AS e WHERE e.handoff = ?1 ORDER BY e.seq"
  )
  static let ofAsset = SQL(
    """
    SELECT \(columns) FROM events AS e WHERE e.seq IN (
      SELECT seq FROM events WHERE asset = (SELECT id FROM assets WHERE identifier = ?1)
      UNION SELECT seq FROM events WHERE handoff IN (
        SELECT ha.handoff FROM handoff_assets AS ha JOIN assets AS a ON a.id = ha.asset
        WHERE a.identifier = ?1))
    ORDER BY e.seq
    """
  )
}
