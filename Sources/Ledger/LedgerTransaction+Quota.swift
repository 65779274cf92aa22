import HandoffCore
import HandoffProtocol
import SQLite

/// The places of a destination's quota: taken with a claim, so that no two claims get the same one.
///
/// A submission keeps its place for the quota's duration. An attempt that ended with effect `none` gives
/// it back, since nothing of it is at the destination; unless that itself said `quota`: then it counts.
extension LedgerTransaction {
  /// How many handoffs of a destination may be claimed now; nil where no quota is in force.
  func freePlaces(_ destination: String) throws -> Int? {
    guard let quota = rules[destination]?.quota else { return nil }
    let start = now - quota.duration.wholeMilliseconds
    let values: [Value] = [.text(destination), .integer(start)]
    try connection.run(QuotaQueries.prune, values)
    let taken = try connection.first(QuotaQueries.count, values) { row in try row.integer(0) }
    return max(0, quota.count - Int(taken ?? 0))
  }

  /// Takes, moves or gives back the place of an attempt, as a move of its handoff has it.
  ///
  /// - Parameters:
  ///   - row: as it is after the move.
  ///   - before: its status before.
  ///   - event: what moved it.
  /// - Throws: ``SQLiteError``.
  func followQuota(
    _ row: HandoffRow,
    from before: HandoffStatus,
    _ event: HandoffEvent
  ) throws {
    guard rules[row.destination]?.quota != nil else { return }
    switch event {
    case .claim, .submit:
      try connection.run(
        QuotaQueries.take,
        [.integer(row.id), .integer(row.attempts), .text(row.destination), .integer(now)]
      )
    case .notReceived: try giveUpPlace(row)
    case .refuse, .failure(.none, _):
      // What waits holds no place but those of attempts that may have done something.
      guard before != .pending else { break }
      if row.error?.code != ErrorCode.quota.text { try giveUpPlace(row) }
    case .release, .expire, .withdraw, .accept, .success, .cancelled, .failure, .sendAgain,
      .loseTrack, .needUser, .adopt, .retry:
      // Nothing was sent under a claim that ends so.
      if before == .leased { try giveUpPlace(row) }
    // Nobody knows whether it was sent after the backup was made.
    case .restore: break
    }
  }

  private func giveUpPlace(_ row: HandoffRow) throws {
    try connection.run(QuotaQueries.giveBack, [.integer(row.id), .integer(row.attempts)])
  }

  /// Counts what was submitted before the quota was in force, or as long.
  func takePlaces(ofSubmissionsTo destination: String, within quota: Quota) throws {
    let start = now - quota.duration.wholeMilliseconds
    try connection.run(QuotaQueries.takeEarlier, [.text(destination), .integer(start)])
  }

  /// No quota is in force there any more.
  func forgetPlaces(of destination: String) throws {
    try connection.run(QuotaQueries.forget, [.text(destination)])
  }

  /// The places are durations: where the clock is set, they move with it.
  func movePlaces(by step: Int64, latest: Int64) throws {
    try connection.run(QuotaQueries.move, [.integer(step), .integer(latest)])
  }
}

extension Quota {
  /// When its next place is free at a destination, as the ledger has it; nil where one is.
  ///
  /// No place is taken for longer than the quota's duration from now, whatever the clock was.
  func nextFree(_ destination: String, now: Int64, _ connection: Connection) throws -> Int64? {
    let length = duration.wholeMilliseconds
    let values: [Value] = [.text(destination), .integer(now - length)]
    let taken = try connection.first(QuotaQueries.count, values) { row in try row.integer(0) }
    guard let taken, taken >= Int64(count) else { return nil }
    let oldest = try connection.first(
      QuotaQueries.place,
      values + [.integer(taken - Int64(count))]
    ) { row in try row.integer(0) }
    return oldest.map { min($0, now) + length }
  }
}

private enum QuotaQueries {
  static let prune = SQL("DELETE FROM quota_places WHERE destination = ?1 AND at <= ?2")
  static let count = SQL(
    "SELECT count(*) FROM quota_places WHERE destination = ?1 AND at > ?2"
  )
  static let place = SQL(
    """
    SELECT at FROM quota_places WHERE destination = ?1 AND at > ?2
    ORDER BY at LIMIT 1 OFFSET ?3
    """
  )
  static let take = SQL(
    """
    INSERT INTO quota_places (handoff, attempt, destination, at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (handoff, attempt) DO UPDATE SET at = ?4
    """
  )
  static let giveBack = SQL("DELETE FROM quota_places WHERE handoff = ?1 AND attempt = ?2")
  static let takeEarlier = SQL(
    """
    INSERT INTO quota_places (handoff, attempt, destination, at)
    SELECT id, attempts, destination, submitted_at FROM handoffs
    WHERE destination = ?1 AND submitted_at > ?2 AND status <> 'pending'
      AND (status = 'succeeded' OR error_effect IS NOT 'none' OR finished_at IS NULL)
    ON CONFLICT (handoff, attempt) DO NOTHING
    """
  )
  static let forget = SQL("DELETE FROM quota_places WHERE destination = ?1")
  static let move = SQL("UPDATE quota_places SET at = min (at, ?2) + ?1")
}
