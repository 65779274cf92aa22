import Digests
package import HandoffCore
import HandoffProtocol
import SQLite

extension Ledger {
  /// The grant of a handoff: `h12.CODE`, where the code is HMAC-SHA-256, under a key for grants alone
  /// that the ledger does not hold, of the row and its random bits.
  ///
  /// The same handoff has the same grant over its attempts and after a restart.
  ///
  /// - Throws: ``LedgerError/unknownHandoff(_:)``.
  package func grant(of id: Handoff.ID) async throws -> Grant {
    guard let row = try await granting(id) else { throw LedgerError.unknownHandoff(id) }
    return try grant(of: row)
  }

  /// The handoff that a grant was made for, whether it may still be read or not; nil for a grant that is
  /// not the ledger's.
  package func handoff(with grant: Grant) async throws -> Handoff? {
    guard let id = grant.handoff, let row = try await granting(id),
      constantTimeEqual(
        Array(try self.grant(of: row).revealed.utf8),
        Array(grant.revealed.utf8)
      )
    else { return nil }
    return try Handoff(row)
  }

  private func grant(of row: HandoffRow) throws -> Grant {
    let code = try HMACSHA256.code(
      of: row.id.bigEndianBytes + row.tokenRandom,
      key: keys.grants
    )
    guard let grant = Grant("\(row.handoffID).\(Base64URL.text(of: code))") else {
      throw LedgerError.unknownHandoff(row.handoffID)
    }
    return grant
  }

  private func granting(_ id: Handoff.ID) async throws -> HandoffRow? {
    try await readings.queue.read { connection in
      try connection.first(GrantQueries.byID, [.integer(id.row)]) { row in try HandoffRow(row) }
    }
  }
}

private enum GrantQueries {
  static let byID = SQL("SELECT \(HandoffRow.columns) FROM handoffs WHERE id = ?1")
}
