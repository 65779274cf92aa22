package import HandoffCore
package import HandoffProtocol
package import Paths
import SQLite

/// What a package has become in the ledger.
package struct PackageRecord: Hashable, Sendable {
  /// The handoffs that were missing and have been made.
  package let created: [Handoff.ID]
  /// Its orders were written down, and become handoffs when a person says so.
  package let isHeld: Bool
  /// What is not in the package's handoffs, by the orders and then the members.
  package let omitted: [Omission]
  /// Members were written down that were not before.
  package let isNew: Bool

  /// A member that a destination does not get with the package.
  package struct Omission: Hashable, Sendable {
    package let member: LocalIdentifier
    package let destination: DestinationName
    package let reason: Reason
  }

  /// Why a destination does not get a member.
  package enum Reason: Hashable, Sendable {
    /// An earlier handoff has it.
    case handedOff(Handoff.ID)
    case deleted
    /// It is from before a rebuild of the ledger, and counts as handed off.
    case olderThanRebuild
  }
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
  ///   - handedOff: members that count as handed off, whatever the ledger knows of them.
  ///   - orders: one for each destination; their identifiers are put in here.
  ///   - sidecar: what this uses up, if there is anything new.
  /// - Returns: what was made.
  /// - Throws: ``LedgerError/malformedOrder(_:detail:)`` for a request that would be too large; then
  ///   nothing has changed.
  package func recordPackage(
    _ path: BytePath,
    members: [LocalIdentifier],
    handedOff: Set<LocalIdentifier> = [],
    orders: [HandoffOrder],
    sidecar: ConsumedSidecar? = nil
  ) async throws -> PackageRecord {
    try await write { transaction in
      let new = try transaction.enter(members, intoPackage: path)
      var created: [Handoff.ID] = []
      var carrier = new.first
      var isHeld = false
      for order in orders {
        let missing = try new.filter {
          try !handedOff.contains($0.identifier)
            && transaction.isMissing($0, at: order.destination)
        }
        guard let first = missing.first else { continue }
        if created.isEmpty { carrier = first }
        var order = order
        order.localIdentifiers = missing.map(\.identifier)
        // One in doubt holds the whole: a package is handed off together.
        if try missing.contains(where: { try transaction.isHeld($0.row) }) {
          isHeld = true
          try transaction.hold(PreparedOrder(order), from: path, isNewWord: sidecar != nil)
          continue
        }
        let row = try transaction.insert(PreparedOrder(order), assets: missing.map(\.row))
        created.append(row.handoffID)
      }
      if let sidecar, let carrier { try transaction.consume(sidecar, asset: carrier.row) }
      return PackageRecord(
        created: created,
        isHeld: isHeld,
        omitted: try orders.flatMap { order in
          try transaction.omitted(
            members,
            ofPackage: path,
            at: order.destination,
            countingAsHandedOff: handedOff
          ) { member, handoff in
            // Of what was written down now it is known, and of the rest the times tell.
            new.contains { $0.identifier == member } ? !created.contains(handoff) : nil
          }
        },
        isNew: !new.isEmpty
      )
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
    try !isOrdered(member.row, destination) && !wasDeleted(member.row)
  }

  /// The members whose handoff to a destination is older than their place in the package, or that were
  /// deleted before any.
  fileprivate func omitted(
    _ members: [LocalIdentifier],
    ofPackage path: BytePath,
    at destination: DestinationName,
    countingAsHandedOff handedOff: Set<LocalIdentifier>,
    isKnownOlder: (LocalIdentifier, Handoff.ID) -> Bool?
  ) throws -> [PackageRecord.Omission] {
    func omission(_ member: LocalIdentifier, _ reason: PackageRecord.Reason)
      -> PackageRecord.Omission
    {
      PackageRecord.Omission(member: member, destination: destination, reason: reason)
    }
    return try members.compactMap { member in
      guard let key = try assetKey(member) else { throw LedgerError.unknownAsset(member) }
      let values: [Value] = [.integer(key.row), .text(destination.text), .blob(path.bytes)]
      let found = try connection.first(Self.findHandoff, values) { row in
        (id: Handoff.ID(row: try row.integer(0)), isOlder: try row.integer(1) != 0)
      }
      if let found {
        guard isKnownOlder(member, found.id) ?? found.isOlder else { return nil }
        return omission(member, .handedOff(found.id))
      }
      if handedOff.contains(member) { return omission(member, .olderThanRebuild) }
      return try wasDeleted(key.row) ? omission(member, .deleted) : nil
    }
  }

  /// The handoff for which another is not made automatically.
  private static let findHandoff = SQL(
    """
    SELECT h.id, h.created_at < p.recorded_at
    FROM handoff_assets AS ha JOIN handoffs AS h ON h.id = ha.handoff
      JOIN package_members AS p ON p.asset = ha.asset AND p.path = ?3
    WHERE ha.asset = ?1 AND h.destination = ?2
      AND (h.automatic_asset IS NOT NULL OR (h.status <> 'refused' AND h.status <> 'cancelled'
        AND (h.error_effect IS NOT 'none' OR (h.status <> 'failed' AND h.status <> 'expired'))))
    ORDER BY h.id LIMIT 1
    """
  )
  private static let insertPackageMember = SQL(
    """
    INSERT INTO package_members (path, asset, recorded_at) VALUES (?1, ?2, ?3)
    ON CONFLICT DO NOTHING
    """
  )
}
