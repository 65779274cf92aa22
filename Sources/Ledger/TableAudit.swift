import HandoffCore
import HandoffProtocol
import SQLite

/// Compares the tables of handoffs and assets with the chain of events, page after page.
struct TableAudit: Sendable {
  private enum Part: Sendable {
    case handoffs
    case assets
    case removedHandoffs
    case done
  }

  private(set) var findings: AuditFindings
  private(set) var handoffs: Int64 = 0
  private(set) var assets: Int64 = 0
  private var part = Part.handoffs
  private var position: Int64 = .min
  private static let pageSize: Int64 = 500

  init(findings: AuditFindings) {
    self.findings = findings
  }

  /// Looks at the next page; false once there is no more.
  mutating func readPage(_ connection: Connection) throws -> Bool {
    let count: Int64
    let next: Part
    switch part {
    case .handoffs: (count, next) = (try readHandoffs(connection), .assets)
    case .assets: (count, next) = (try readAssets(connection), .removedHandoffs)
    case .removedHandoffs: (count, next) = (try readRemoved(connection), .done)
    case .done: return false
    }
    if count < Self.pageSize {
      part = next
      position = .min
    }
    if case .done = part { return false }
    return true
  }

  private mutating func readHandoffs(_ connection: Connection) throws -> Int64 {
    var count: Int64 = 0
    try connection.forEach(
      TableQueries.handoffs,
      [.integer(position), .integer(Self.pageSize)]
    ) { row in
      count += 1
      position = try row.integer(0)
      try compare(
        StoredHandoff(
          id: Handoff.ID(row: position),
          status: try row.text(1),
          result: try row.optionalText(2),
          url: try row.optionalText(3),
          last: try row.optionalText(4),
          hasSuccess: try row.flag(5),
          told: try row.flag(7) ? try row.optionalText(6) ?? "" : nil
        )
      )
    }
    handoffs += count
    return count
  }

  /// A handoff as the table has it, and as its events tell of it.
  private struct StoredHandoff {
    let id: Handoff.ID
    let status: String
    let result: String?
    /// The address in its output.
    let url: String?
    /// The status that its last event left it in.
    let last: String?
    let hasSuccess: Bool
    /// The address that its success came with, empty for none; nil where a person said that it succeeded.
    let told: String?
  }

  private mutating func compare(_ row: StoredHandoff) throws {
    guard let last = row.last else {
      return findings.add(AuditFinding(kind: .handoffUnexplained, handoff: row.id))
    }
    let problem: String? =
      if last != row.status {
        "it is \(row.status), and its last event left it \(last)"
      } else if row.result == "success", !row.hasSuccess {
        "its result is a success that no event tells of"
      } else if row.result == "success", let told = row.told, told != row.url ?? "" {
        "its address is not the one that its success came with, \(told.isEmpty ? "none" : told)"
      } else {
        nil
      }
    if let problem {
      findings.add(AuditFinding(kind: .handoffDiffers, handoff: row.id, detail: problem))
    }
  }

  private mutating func readAssets(_ connection: Connection) throws -> Int64 {
    var count: Int64 = 0
    try connection.forEach(
      TableQueries.assets,
      [.integer(position), .integer(Self.pageSize)]
    ) { row in
      count += 1
      position = try row.integer(0)
      let asset = LocalIdentifier(try row.text(1))
      let isDeleted = try row.text(2) == Asset.Status.deleted.rawValue
      if try !row.flag(3) {
        findings.add(AuditFinding(kind: .assetUnexplained, asset: asset))
      } else if try isDeleted != row.flag(4) {
        let detail = isDeleted ? "no event tells of its deletion" : "its events say it was deleted"
        findings.add(AuditFinding(kind: .assetDiffers, asset: asset, detail: detail))
      }
    }
    assets += count
    return count
  }

  private mutating func readRemoved(_ connection: Connection) throws -> Int64 {
    var count: Int64 = 0
    try connection.forEach(
      TableQueries.origins,
      [.integer(position), .integer(Self.pageSize)]
    ) { row in
      count += 1
      position = try row.integer(0)
      if try row.flag(3) { return }
      findings.add(
        AuditFinding(
          kind: row.isNull(1) ? .assetRemoved : .handoffRemoved,
          first: position,
          last: position,
          handoff: try row.optionalInteger(1).map { Handoff.ID(row: $0) },
          detail: try row.optionalInteger(1).map { "h\($0)" }
        )
      )
    }
    return count
  }
}

private enum TableQueries {
  static let handoffs = SQL(
    """
    SELECT h.id, h.status, h.result,
      CASE WHEN json_valid (h.output) THEN
        iif (json_type (h.output, '$.url') = 'text', json_extract (h.output, '$.url'), NULL) END,
      (SELECT to_status FROM events WHERE handoff = h.id AND to_status IS NOT NULL
        ORDER BY seq DESC LIMIT 1),
      EXISTS (SELECT 1 FROM events WHERE handoff = h.id AND to_status = 'succeeded'),
      (SELECT detail FROM events WHERE handoff = h.id AND event = 'succeeded'
        ORDER BY seq DESC LIMIT 1),
      EXISTS (SELECT 1 FROM events WHERE handoff = h.id AND event = 'succeeded')
    FROM handoffs AS h WHERE h.id > ?1 ORDER BY h.id LIMIT ?2
    """
  )
  /// Whether its import is told of, and whether the last word about it is that it was deleted.
  static let assets = SQL(
    """
    SELECT a.id, a.identifier, a.status,
      EXISTS (SELECT 1 FROM events WHERE asset = a.id AND event IN ('imported', 'rebuilt')),
      ifnull ((SELECT event = 'asset_deleted' OR (event = 'rebuilt' AND to_status = 'deleted')
        FROM events WHERE asset = a.id AND event IN ('imported', 'rebuilt', 'revived',
          'asset_deleted', 'asset_present', 'asset_damaged', 'asset_unavailable')
        ORDER BY seq DESC LIMIT 1), 0)
    FROM assets AS a WHERE a.id > ?1 ORDER BY a.id LIMIT ?2
    """
  )
  static let origins = SQL(
    """
    SELECT e.seq, e.handoff, e.asset,
      CASE WHEN e.handoff IS NOT NULL THEN EXISTS (SELECT 1 FROM handoffs WHERE id = e.handoff)
        ELSE EXISTS (SELECT 1 FROM assets WHERE id = e.asset) END
    FROM events AS e
    WHERE e.seq > ?1 AND e.event IN ('created', 'carried_over', 'imported', 'rebuilt')
    ORDER BY e.seq LIMIT ?2
    """
  )
}
