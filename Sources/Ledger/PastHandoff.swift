package import HandoffCore
package import HandoffProtocol
import SQLite

/// What is remembered for good of the handoffs of an asset to a destination that were pruned.
package struct PastHandoff: Hashable, Sendable {
  package let destination: DestinationName
  /// The one that tells most.
  package let id: Handoff.ID
  package let status: HandoffStatus
  package let finishedAt: Timestamp
}

extension LedgerReading {
  /// What is remembered of the pruned handoffs of an asset.
  package func pastHandoffs(ofAsset identifier: LocalIdentifier) async throws -> [PastHandoff] {
    try await readings.queue.read { connection in
      try connection.rows(PastQueries.ofAsset, [.text(identifier.text)]) { row in
        guard let destination = DestinationName(try row.text(0)),
          let status = HandoffStatus(rawValue: try row.text(2))
        else { return nil }
        return PastHandoff(
          destination: destination,
          id: Handoff.ID(row: try row.integer(1)),
          status: status,
          finishedAt: Timestamp(milliseconds: try row.integer(3))
        )
      }.compactMap(\.self)
    }
  }
}

extension OrderChecks {
  /// A pruned handoff of one of the assets to the destination that has succeeded, or may have.
  func pastStanding(
    _ assets: [Int64],
    _ destination: DestinationName
  ) throws -> (id: Handoff.ID, status: HandoffStatus)? {
    for asset in assets {
      let found = try connection.first(
        PastQueries.standing,
        [.integer(asset), .text(destination.text)]
      ) { row in (id: Handoff.ID(row: try row.integer(0)), status: try row.text(1)) }
      if let found, let status = HandoffStatus(rawValue: found.status) { return (found.id, status) }
    }
    return nil
  }
}

private enum PastQueries {
  static let ofAsset = SQL(
    """
    SELECT p.destination, p.handoff, p.status, p.finished_at
    FROM past_handoffs AS p JOIN assets AS a ON a.id = p.asset WHERE a.identifier = ?1
    ORDER BY p.handoff
    """
  )
  static let standing = SQL(
    "SELECT handoff, status FROM past_handoffs WHERE asset = ?1 AND destination = ?2 AND stands = 1"
  )
}
