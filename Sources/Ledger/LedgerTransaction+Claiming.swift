import HandoffCore
import HandoffProtocol
import SQLite

/// Which handoffs a claim takes.
extension LedgerTransaction {
  /// So many new exports are claimed before back-fill that is due has a turn: it is slow, and never stands
  /// still.
  static let newClaimsAtMost = 7
  /// How often one claim looks for others in the place of what may not be claimed.
  private static let looks = 16

  func claim(
    _ destination: DestinationName,
    limit: Int,
    lease: Int64
  ) throws -> [HandoffRow] {
    guard try !isStopped(destination.text) else { return [] }
    let now = self.now
    let lease = (id: nextSequence, until: now + lease)
    var wanted = min(limit, try freePlaces(destination.text) ?? limit)
    var claimed: [HandoffRow] = []
    // What is held here is not due any more, so each look finds others; the rest is found the next time.
    for _ in 0..<Self.looks where wanted > 0 {
      let before = wanted
      let rows = try dueRows(destination.text, now, limit: before)
      for var row in rows {
        guard try mayBeClaimed(&row) else { continue }
        guard try isApproved(row) else {
          try awaitApproval(&row)
          continue
        }
        guard try isItsTurn(&row) else { continue }
        try claim(&row, now, leaseID: lease.id, until: lease.until)
        claimed.append(row)
        wanted -= 1
      }
      if rows.isEmpty || wanted == before - rows.count { break }
    }
    if !claimed.isEmpty { touch(destination.text) }
    return claimed
  }

  private func claim(
    _ row: inout HandoffRow,
    _ now: Int64,
    leaseID: Int64,
    until: Int64
  ) throws {
    try move(&row, .claim, saving: .claim) { row in
      row.attempts += 1
      row.firstAttemptAt = row.firstAttemptAt ?? now
      row.leaseID = leaseID
      row.leaseUntil = until
    }
  }

  /// What is due: new exports, then back-fill; every now and then one of that goes first.
  private func dueRows(_ destination: String, _ now: Int64, limit: Int) throws -> [HandoffRow] {
    func due(_ priority: Int64, _ limit: Int) throws -> [HandoffRow] {
      guard limit > 0 else { return [] }
      let values: [Value] = [
        .text(destination), .integer(priority), .integer(now), .integer(Int64(limit)),
      ]
      return try connection.rows(ClaimQueries.due, values) { row in try HandoffRow(row) }
    }
    let hasTurn = newClaims[destination, default: 0] >= Self.newClaimsAtMost
    let turn = hasTurn ? try due(1, 1) : []
    let new = try due(0, limit - turn.count)
    newClaims[destination] = (turn.isEmpty ? newClaims[destination] ?? 0 : 0) + new.count
    let rest = limit - turn.count - new.count
    guard rest > 0 else { return turn + new }
    // The turn's own row is the first of them once more.
    return turn + new + (try due(1, rest + turn.count)).dropFirst(turn.count)
  }

  /// Looks once more at what a claim was allowed for; gives it back where that does not hold any more.
  func maySubmit(_ row: inout HandoffRow) throws -> Bool {
    let now = self.now
    if try isStopped(row.destination) {
      try move(&row, .release, detail: WaitingReason.paused.rawValue) { row in
        row.comeBackUnsent(nil, now: now)
      }
      return false
    }
    guard try isApproved(row) else {
      try move(&row, .release, detail: WaitingReason.approval.rawValue) { row in
        row.comeBackUnsent(.init(.approval), now: now)
      }
      try tellOfApprovals(row.destination)
      return false
    }
    return true
  }
}

enum ClaimQueries {
  // Each part of the index is named, and its order is that of the claims: nothing is sorted.
  static let due = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs
    WHERE status = 'pending' AND destination = ?1 AND priority = ?2 AND due_at <= ?3
      AND (expires_at IS NULL OR expires_at > ?3)
    ORDER BY due_at, id LIMIT ?4
    """
  )
}
