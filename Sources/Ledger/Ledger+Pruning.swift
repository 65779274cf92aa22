package import HandoffCore
package import HandoffProtocol
import SQLite

/// One short piece of pruning.
package struct PruningStep: Hashable, Sendable {
  package let handoffs: Int
  package let events: Int
  /// Where the next piece goes on; nil when all has been looked at.
  package let next: Handoff.ID?
}

/// A run of events cannot be dropped, since it is not the one that was written.
///
/// It is left as it is, for `handoff audit` to show.
package struct PruningRefused: Error, Hashable, Sendable, CustomStringConvertible {
  /// The first event that does not fit.
  package let sequence: Int64

  package var description: String {
    "event \(sequence) is not the one that was written, so nothing is pruned; see `handoff audit`"
  }
}

extension Ledger {
  /// Drops some of the handoffs that ended long ago, with their results and events, in one transaction.
  ///
  /// What keeps the same from being handed off twice is written down before, and stays with the asset.
  /// The chain of events stays provable: each run of dropped events is noted under the ledger's key. A
  /// crash between two pieces leaves nothing half done.
  ///
  /// Kept are handoffs of an asset of which another has not ended or whose original waits, those with a
  /// late result that nobody has adopted, and those that were given up after crashes.
  ///
  /// - Parameters:
  ///   - cutoff: what ended before it may go.
  ///   - cursor: where to begin; nil for the beginning.
  ///   - limit: at most so many handoffs are dropped, so that others do not wait long.
  /// - Returns: what was done, and where to go on.
  /// - Throws: ``PruningRefused`` where the events to be dropped were tampered with.
  package func prune(
    endedBefore cutoff: Timestamp,
    after cursor: Handoff.ID? = nil,
    limit: Int = 100
  ) async throws -> PruningStep {
    try await write { transaction in
      try transaction.prune(cutoff.milliseconds, after: cursor?.row ?? 0, limit: limit)
    }
  }
}

extension LedgerTransaction {
  /// How many rows one piece looks at.
  private static let window = 1_000
  /// How many events without a handoff or asset go with a piece.
  private static let looseEvents: Int64 = 500

  fileprivate func prune(_ cutoff: Int64, after cursor: Int64, limit: Int) throws -> PruningStep {
    let looked = try connection.rows(
      PruningQueries.window,
      [.integer(cursor), .integer(cutoff), .integer(Int64(Self.window))]
    ) { row in (id: try row.integer(0), isOld: try row.flag(1)) }
    var ids: [Int64] = []
    var last: Int64?
    var isNeeded: [Int64: Bool] = [:]
    // What another key has proven, this one cannot prove that it may go.
    let unproven = try ChainStart.read(connection).map { $0.sequence + 1 } ?? 0
    for row in looked {
      if ids.count == limit { break }
      last = row.id
      guard row.isOld, try firstEvent(of: row.id) > unproven else { continue }
      if try mayGo(row.id, &isNeeded) { ids.append(row.id) }
    }
    let isEnd = looked.count < Self.window && last == looked.last?.id
    let next = isEnd ? nil : last.map { Handoff.ID(row: $0) }
    guard !ids.isEmpty else { return PruningStep(handoffs: 0, events: 0, next: next) }
    var sequences: [Int64] = []
    for id in ids {
      sequences += try connection.rows(PruningQueries.events, [.integer(id)]) { row in
        try row.integer(0)
      }
    }
    sequences += try looseEvents(among: sequences, before: cutoff)
    for run in Self.runs(of: sequences.sorted()) { try drop(run) }
    for id in ids {
      try connection.run(PruningQueries.remember, [.integer(id)])
      try connection.run(PruningQueries.deleteHandoff, [.integer(id)])
    }
    let moment = Timestamp(milliseconds: cutoff).rfc3339
    try record(
      Event(
        at: now,
        kind: "pruned",
        detail: "\(ids.count) handoffs that ended before \(moment), with \(sequences.count) events"
      )
    )
    return PruningStep(handoffs: ids.count, events: sequences.count, next: next)
  }

  /// Int64.max for a handoff without events.
  private func firstEvent(of id: Int64) throws -> Int64 {
    try connection.first(PruningQueries.firstEvent, [.integer(id)]) { row in
      try row.optionalInteger(0)
    }.flatMap(\.self) ?? .max
  }

  /// Whether nothing asks for it any more; each asset is looked at once.
  private func mayGo(_ id: Int64, _ isNeeded: inout [Int64: Bool]) throws -> Bool {
    guard suspects[id]?.isGivenUp != true else { return false }
    let assets = try connection.rows(PruningQueries.assets, [.integer(id)]) { row in
      try row.integer(0)
    }
    for asset in assets {
      let known = try isNeeded[asset] ?? self.isNeeded(asset)
      isNeeded[asset] = known
      if known { return false }
    }
    return true
  }

  private func isNeeded(_ asset: Int64) throws -> Bool {
    try connection.first(PruningQueries.reasonToStay, [.integer(asset)]) { _ in true } ?? false
  }

  /// Events of the broker as a whole, in the same part of the chain and as old.
  private func looseEvents(among sequences: [Int64], before cutoff: Int64) throws -> [Int64] {
    guard let first = sequences.min(), let last = sequences.max() else { return [] }
    return try connection.rows(
      PruningQueries.loose,
      [.integer(first), .integer(last), .integer(cutoff), .integer(Self.looseEvents)]
    ) { row in try row.integer(0) }
  }

  private static func runs(of sequences: [Int64]) -> [ClosedRange<Int64>] {
    var runs: [ClosedRange<Int64>] = []
    for sequence in sequences {
      if let last = runs.last, sequence == last.upperBound + 1 {
        runs[runs.count - 1] = last.lowerBound...sequence
      } else {
        runs.append(sequence...sequence)
      }
    }
    return runs
  }

  /// Drops a run of events, once it is proven that they are those that were written.
  private func drop(_ run: ClosedRange<Int64>) throws {
    let earlier = try PrunedRange.covering(run.lowerBound - 1, in: connection)
    let later = try PrunedRange.covering(run.upperBound + 1, in: connection)
    let before = try earlier?.after ?? code(ofEvent: run.lowerBound - 1)
    var chain = try EventChain(keys)
    var head = ChainHead(sequence: run.lowerBound - 1, code: before)
    try connection.forEach(
      PruningQueries.run,
      [.integer(run.lowerBound), .integer(run.upperBound)]
    ) { row in
      head = try chain.head(after: head, appending: Event(row))
      guard try head.sequence == row.integer(0), try head.code == row.blob(10) else {
        throw PruningRefused(sequence: head.sequence)
      }
    }
    for range in [earlier, later].compactMap(\.self) where try !range.isGenuine(keys) {
      throw PruningRefused(sequence: range.first)
    }
    let range = PrunedRange(
      first: earlier?.first ?? run.lowerBound,
      last: later?.last ?? run.upperBound,
      before: earlier?.before ?? before,
      after: later?.after ?? head.code
    )
    try range.signed(keys).save(
      replacing: [earlier, later].compactMap(\.self),
      in: connection
    )
    try connection.run(
      PruningQueries.deleteEvents,
      [.integer(run.lowerBound), .integer(run.upperBound)]
    )
  }

  private func code(ofEvent sequence: Int64) throws -> [UInt8] {
    guard sequence > 0 else { return ChainHead.start.code }
    let code = try connection.first(PruningQueries.code, [.integer(sequence)]) { row in
      try row.blob(0)
    }
    guard let code else { throw PruningRefused(sequence: sequence) }
    return code
  }
}

private enum PruningQueries {
  static let window = SQL(
    """
    SELECT id, finished_at IS NOT NULL AND finished_at < ?2
      AND (late_results = 0 OR status = 'succeeded')
    FROM handoffs WHERE id > ?1 ORDER BY id LIMIT ?3
    """
  )
  static let assets = SQL("SELECT asset FROM handoff_assets WHERE handoff = ?1")
  /// Something of the asset is open: what holds that one, or the original, asks for the others.
  static let reasonToStay = SQL(
    """
    SELECT 1 FROM handoff_assets AS ha JOIN handoffs AS h ON h.id = ha.handoff
    WHERE ha.asset = ?1 AND h.finished_at IS NULL
    UNION ALL SELECT 1 FROM sightings WHERE asset = ?1 AND original_waits = 1
    LIMIT 1
    """
  )
  static let events = SQL("SELECT seq FROM events WHERE handoff = ?1")
  static let firstEvent = SQL("SELECT min (seq) FROM events WHERE handoff = ?1")
  static let loose = SQL(
    """
    SELECT seq FROM events WHERE seq BETWEEN ?1 AND ?2 AND handoff IS NULL AND asset IS NULL
      AND at < ?3 LIMIT ?4
    """
  )
  static let run = SQL(
    "SELECT \(Event.columns) FROM events WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq"
  )
  static let code = SQL("SELECT mac FROM events WHERE seq = ?1")
  static let deleteEvents = SQL("DELETE FROM events WHERE seq BETWEEN ?1 AND ?2")
  static let deleteHandoff = SQL("DELETE FROM handoffs WHERE id = ?1")
  // What has succeeded tells most, and what may have tells more than what has not.
  private static let tellsMore = """
    excluded.stands + (excluded.status = 'succeeded') >= stands + (status = 'succeeded')
    """
  static let remember = SQL(
    """
    INSERT INTO past_handoffs (asset, destination, handoff, status, finished_at, was_automatic, stands)
      SELECT ha.asset, h.destination, h.id, h.status, h.finished_at, h.automatic_asset IS NOT NULL,
        h.status <> 'refused'
          AND (h.status <> 'cancelled' OR ifnull (h.error_effect, 'none') <> 'none'
            OR h.late_results > 0)
          AND (h.error_effect IS NOT 'none' OR h.late_results > 0
            OR (h.status <> 'failed' AND h.status <> 'expired'))
      FROM handoffs AS h JOIN handoff_assets AS ha ON ha.handoff = h.id WHERE h.id = ?1
    ON CONFLICT (asset, destination) DO UPDATE SET
      handoff = iif (\(tellsMore), excluded.handoff, handoff),
      status = iif (\(tellsMore), excluded.status, status),
      finished_at = iif (\(tellsMore), excluded.finished_at, finished_at),
      was_automatic = max (was_automatic, excluded.was_automatic),
      stands = max (stands, excluded.stands)
    """
  )
}
