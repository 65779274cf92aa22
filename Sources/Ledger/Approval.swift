import Digests
import HandoffCore
package import HandoffProtocol
import SQLite

/// What a person approves, or has approved: a handoff with everything that its receiver gets to see.
package struct Approval: Hashable, Sendable {
  /// SHA-256 over the request and the contents of its assets, as they are in the ledger now.
  package let digest: ContentDigest
  /// What the digest was when a person approved it; nil where nobody has.
  package let approved: ContentDigest?
  package let approvedAt: Timestamp?
  /// The user id; nil where the kernel did not tell it.
  package let approvedBy: UInt32?
  /// When something else was found in the place of what was approved.
  package let voidedAt: Timestamp?

  /// What was approved is what is there.
  package var isValid: Bool { approved == digest && voidedAt == nil }

  /// So many digits from its beginning name a digest.
  package static let shortestPrefix = 16

  /// Whether a text names this digest.
  package func matches(_ text: String) -> Bool {
    text.utf8.count >= Self.shortestPrefix && digest.hex.hasPrefix(text.lowercased())
  }
}

extension Approval {
  /// Reads where a handoff stands; nil where there is no such handoff.
  static func read(_ id: Int64, _ connection: Connection) throws -> Approval? {
    guard let digest = try digest(of: id, connection) else { return nil }
    let stored = try connection.first(ApprovalQueries.read, [.integer(id)]) { row in
      Approval(
        digest: digest,
        approved: ContentDigest(try row.blob(0)),
        approvedAt: Timestamp(milliseconds: try row.integer(1)),
        approvedBy: try row.optionalInteger(2).flatMap { UInt32(exactly: $0) },
        voidedAt: try row.optionalInteger(3).map(Timestamp.init(milliseconds:))
      )
    }
    return stored
      ?? Approval(digest: digest, approved: nil, approvedAt: nil, approvedBy: nil, voidedAt: nil)
  }

  /// The digest of all that the receiver of a handoff gets to see.
  ///
  /// An expiry that the sender gave as a duration moves with the clock, and is no part of it.
  private static func digest(of id: Int64, _ connection: Connection) throws -> ContentDigest? {
    let request = try connection.first(ApprovalQueries.request, [.integer(id)]) { row in
      try (0..<8).map { column in try row.optionalText(column) }
    }
    guard let request else { return nil }
    let contents = try connection.rows(ApprovalQueries.contents, [.integer(id)]) { row in
      try row.blob(0)
    }
    var digest = try SHA256()
    let tag = Array("handoff-approval-1".utf8)
    let parts: [[UInt8]?] = [tag] + request.map { $0.map { Array($0.utf8) } } + contents
    for part in parts + (try renditions(of: id, connection)) {
      // Absent and empty differ, and no part can pass for two.
      digest.update(Int64(part?.count ?? -1).bigEndianBytes)
      digest.update(part ?? [])
    }
    return ContentDigest(try digest.finish())
  }

  /// The digests of the renditions that are given instead of the originals.
  private static func renditions(of id: Int64, _ connection: Connection) throws -> [[UInt8]] {
    try connection.rows(ApprovalQueries.renditions, [.integer(id)]) { row in try row.blob(0) }
  }
}

enum ApprovalQueries {
  static let read = SQL(
    "SELECT digest, approved_at, approved_by, voided_at FROM approvals WHERE handoff = ?1"
  )
  static let save = SQL(
    """
    INSERT INTO approvals (handoff, digest, approved_at, approved_by) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (handoff) DO UPDATE SET digest = ?2, approved_at = ?3, approved_by = ?4,
      voided_at = NULL
    """
  )
  static let void = SQL(
    "UPDATE approvals SET voided_at = ?2 WHERE handoff = ?1 AND voided_at IS NULL"
  )
  static let request = SQL(
    """
    SELECT destination, local_identifiers, title, CAST(sync_publish AS TEXT), callback_id, metadata,
      CAST(publish_at AS TEXT), iif (is_expiry_moment, CAST(expires_at AS TEXT), NULL)
    FROM handoffs WHERE id = ?1
    """
  )
  static let contents = SQL(
    """
    SELECT a.digest FROM handoff_assets AS ha JOIN assets AS a ON a.id = ha.asset
    WHERE ha.handoff = ?1 ORDER BY ha.position
    """
  )
  static let renditions = SQL(
    """
    SELECT r.digest FROM handoffs AS h
      JOIN destination_rules AS d ON d.destination = h.destination
      JOIN handoff_assets AS ha ON ha.handoff = h.id
      JOIN renditions AS r ON r.asset = ha.asset AND r.name = d.rendition
    WHERE h.id = ?1 ORDER BY ha.position
    """
  )
  // NULL moments come first in the index, so what waits for approval is found at once.
  static let isAnyWaiting = SQL(
    """
    SELECT 1 FROM handoffs WHERE status = 'pending' AND destination = ?1
      AND waiting_reason = 'approval' LIMIT 1
    """
  )
  static let goOn = SQL(
    """
    UPDATE handoffs SET \(HandoffRow.waitForMoment)
    WHERE id = ?1 AND status = 'pending' AND waiting_reason = 'approval'
    """
  )
}
