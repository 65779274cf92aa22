package import HandoffCore
package import HandoffProtocol
package import Paths
import SQLite

/// What a package has become in the ledger.
package struct PackageRecord: Hashable, Sendable {
  /// The handoffs that were missing and have been made.
  package let created: [Handoff.ID]
}

extension Ledger {
  /// Records the members of a package, and makes its handoffs, as one change: for each order one of all
  /// the members that are new to the package and that its destination was not ordered yet.
  ///
  /// An asset is left out of an order where it was ever ordered automatically for the destination, by
  /// itself or with others, or by hand with success or with an end that is still open, and where it was
  /// deleted at any time. What was recorded makes nothing again: it may be said after every restart.
  ///
  /// - Parameters:
  ///   - path: the directory.
  ///   - members: its assets in their order, each once.
  ///   - orders: one for each destination; their identifiers are put in here.
  ///   - sidecar: what this uses up, if there is anything new.
  /// - Returns: what was made.
  /// - Throws: ``LedgerError/malformedOrder(_:detail:)`` for a request that would be too large; then
  ///   nothing has changed.
  package func recordPackage(
    _ path: BytePath,
    members: [LocalIdentifier],
    orders: [HandoffOrder],
    sidecar: ConsumedSidecar? = nil
  ) async throws -> PackageRecord {
    try await write { transaction in
      let new = try transaction.enter(members, intoPackage: path)
      var created: [Handoff.ID] = []
      var carrier = new.first
      for order in orders {
        let missing = try new.filter { try transaction.isMissing($0, at: order.destination) }
        guard let first = missing.first else { continue }
        if created.isEmpty { carrier = first }
        var order = order
        order.localIdentifiers = missing.map(\.identifier)
        let row = try transaction.insert(PreparedOrder(order), assets: missing.map(\.row))
        created.append(row.handoffID)
      }
      if let sidecar, let carrier { try transaction.consume(sidecar, asset: carrier.row) }
      return PackageRecord(created: created)
    }
  }
}

/// An asset that is new to its package.
private struct NewMember {
  let identifier: LocalIdentifier
  let row: Int64
}

extension LedgerTransaction {
  /// Writes members down and gives those that were not there.
  fileprivate func enter(
    _ members: [LocalIdentifier],
    intoPackage path: BytePath
  ) throws -> [NewMember] {
    var new: [NewMember] = []
    for identifier in members {
      guard let key = try assetKey(identifier) else { throw LedgerError.unknownAsset(identifier) }
      let written = try connection.run(
        Self.insertPackageMember,
        [.blob(path.bytes), .integer(key.row), .integer(now)]
      )
      if written > 0 { new.append(NewMember(identifier: identifier, row: key.row)) }
    }
    return new
  }

  fileprivate func isMissing(
    _ member: NewMember,
    at destination: DestinationName
  ) throws -> Bool {
    if try hasAutomaticHandoff(member.row, destination) { return false }
    if try standing([member.row], destination) != nil { return false }
    return try !wasDeleted(member.row)
  }

  private static let insertPackageMember = SQL(
    """
    INSERT INTO package_members (path, asset, recorded_at) VALUES (?1, ?2, ?3)
    ON CONFLICT DO NOTHING
    """
  )
}
