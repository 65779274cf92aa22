package import HandoffCore
package import HandoffProtocol
import SQLite

/// A look back at a handoff that succeeded: what was found of all its assets.
package struct PastVerification: Hashable, Sendable {
  package let at: Timestamp
  /// The worst of its assets.
  package let standing: VerifiedAsset.Standing
  /// For people.
  package let detail: String?
}

/// A handoff that can be looked at again.
package struct VerifiableHandoff: Hashable, Sendable {
  package let id: Handoff.ID
  /// Of what was handed off.
  package let bytes: Int64
  /// When it was looked at last; nil for never.
  package let verifiedAt: Timestamp?
}

extension Ledger {
  /// Records what its receiver has found of a handoff that succeeded.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - standing: the worst of its assets.
  ///   - detail: for people; never a token.
  /// - Returns: when that was.
  /// - Throws: ``LedgerError/unknownHandoff(_:)`` where it was pruned meanwhile.
  package func recordVerification(
    of id: Handoff.ID,
    _ standing: VerifiedAsset.Standing,
    detail: String?
  ) async throws -> Timestamp {
    try await write { transaction in
      let row = try transaction.row(id)
      try transaction.record(VerificationQueries.kind(standing), of: row, detail: detail)
      return Timestamp(milliseconds: transaction.now)
    }
  }
}

extension LedgerReading {
  /// Handoffs of a destination that have succeeded: first those that were never looked at again, then the
  /// others, the longest ago first.
  ///
  /// - Parameters:
  ///   - destination: whose.
  ///   - since: only those that have ended at or after this.
  ///   - identifier: only those of this asset.
  ///   - limit: at most so many.
  /// - Throws: where the ledger cannot be read.
  package func verifiable(
    at destination: DestinationName,
    since: Timestamp? = nil,
    asset identifier: LocalIdentifier? = nil,
    limit: Int = .max
  ) async throws -> [VerifiableHandoff] {
    try await readings.queue.read { connection in
      try connection.rows(
        VerificationQueries.list,
        [
          .text(destination.text), .optional(since?.milliseconds),
          .optional(identifier?.text), .integer(Int64(limit)),
        ]
      ) { row in
        VerifiableHandoff(
          id: Handoff.ID(row: try row.integer(0)),
          bytes: try row.integer(1),
          verifiedAt: try row.optionalInteger(2).map { Timestamp(milliseconds: $0) }
        )
      }
    }
  }

  /// The last look back at a handoff; nil where there was none.
  package func lastVerification(of id: Handoff.ID) async throws -> PastVerification? {
    try await readings.queue.read { connection in
      try connection.first(VerificationQueries.last, [.integer(id.row)]) { row in
        let kind = try row.text(1).dropFirst(VerificationQueries.prefix.count)
        return PastVerification(
          at: Timestamp(milliseconds: try row.integer(0)),
          standing: VerifiedAsset.Standing(rawValue: String(kind)) ?? .unknown,
          detail: try row.optionalText(2)
        )
      }
    }
  }

  /// What a handoff's receiver was given: the renditions that its last submission names, else the assets
  /// themselves, also those that were deleted since.
  package func delivered(of handoff: Handoff) async throws -> [DeliveredAsset] {
    let detail = try await readings.queue.read { connection in
      try connection.first(VerificationQueries.submission, [.integer(handoff.id.row)]) { row in
        try row.optionalText(0)
      } ?? nil
    }
    let given = try detail.map { try GivenRendition.read($0) } ?? []
    var delivered: [DeliveredAsset] = []
    for identifier in handoff.localIdentifiers {
      if let rendition = given.first(where: { $0.localIdentifier == identifier }) {
        delivered.append(
          DeliveredAsset(
            localIdentifier: identifier,
            sha256: rendition.sha256,
            size: rendition.size
          )
        )
      } else if let asset = try await asset(identifier) {
        delivered.append(
          DeliveredAsset(localIdentifier: identifier, sha256: asset.digest, size: asset.size)
        )
      }
    }
    return delivered
  }

  /// How many handoffs of each destination have succeeded, in all and since a moment.
  package func successes(
    since: Timestamp
  ) async throws -> [DestinationName: (total: Int, recent: Int)] {
    try await readings.queue.read { connection in
      var counts: [DestinationName: (total: Int, recent: Int)] = [:]
      try connection.forEach(VerificationQueries.successes, [.integer(since.milliseconds)]) { row in
        guard let name = DestinationName(try row.text(0)) else { return }
        counts[name] = (Int(try row.integer(1)), Int(try row.integer(2)))
      }
      return counts
    }
  }

  /// How many handoffs each destination's receiver may hold now.
  package func inFlightCounts() async throws -> [DestinationName: Int] {
    try await readings.queue.read { connection in
      var counts: [DestinationName: Int] = [:]
      try connection.forEach(VerificationQueries.inFlight) { row in
        guard let name = DestinationName(try row.text(0)) else { return }
        counts[name] = Int(try row.integer(1))
      }
      return counts
    }
  }
}

private enum VerificationQueries {
  /// What the names of these events begin with.
  static let prefix = "verified_"

  static func kind(_ standing: VerifiedAsset.Standing) -> String { prefix + standing.rawValue }

  private static let kinds = """
    ('verified_intact', 'verified_present', 'verified_damaged', 'verified_missing', 'verified_unknown')
    """

  static let list = SQL(
    """
    SELECT h.id,
      ifnull (
        (SELECT sum(g.value ->> '$.size') FROM json_each (
          (SELECT CASE WHEN json_valid (detail) THEN detail END FROM events
            WHERE handoff = h.id AND event = 'submitted' ORDER BY seq DESC LIMIT 1), '$.given') AS g),
        ifnull ((SELECT sum(a.size) FROM handoff_assets AS ha JOIN assets AS a ON a.id = ha.asset
          WHERE ha.handoff = h.id), 0)),
      (SELECT max(at) FROM events WHERE handoff = h.id AND event IN \(kinds)) AS verified
    FROM handoffs AS h
    WHERE h.destination = ?1 AND h.status = 'succeeded' AND (?2 IS NULL OR h.finished_at >= ?2)
      AND (?3 IS NULL OR EXISTS (SELECT 1 FROM handoff_assets AS ha JOIN assets AS a
        ON a.id = ha.asset WHERE ha.handoff = h.id AND a.identifier = ?3))
    ORDER BY verified IS NOT NULL, verified, h.id LIMIT ?4
    """
  )
  static let last = SQL(
    """
    SELECT at, event, detail FROM events WHERE handoff = ?1 AND event IN \(kinds)
    ORDER BY seq DESC LIMIT 1
    """
  )
  static let submission = SQL(
    """
    SELECT detail FROM events WHERE handoff = ?1 AND event = 'submitted' ORDER BY seq DESC LIMIT 1
    """
  )
  static let successes = SQL(
    """
    SELECT destination, count(*), sum(finished_at >= ?1) FROM handoffs
    WHERE status = 'succeeded' GROUP BY destination
    """
  )
  static let inFlight = SQL(
    """
    SELECT destination, count(*) FROM handoffs
    WHERE finished_at IS NULL AND (status = 'submitted' OR status = 'accepted')
    GROUP BY destination
    """
  )
}
