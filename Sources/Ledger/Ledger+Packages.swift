package import HandoffCore
package import HandoffProtocol
import SQLite

/// What a package has become in the ledger.
package struct PackageRecord: Hashable, Sendable {
  /// The handoffs that were missing and have been made.
  package let created: [Handoff.ID]
}

extension Ledger {
  /// Makes the handoffs of a package as one change: for each order one of all its assets that the
  /// destination was not ordered yet.
  ///
  /// An asset is left out of an order where it was ever ordered automatically for the destination, by
  /// itself or with others, or by hand with success or with an end that is still open, and where it was
  /// deleted at any time. So saying it again makes nothing: it may be said after every restart.
  ///
  /// - Parameters:
  ///   - orders: each with all the package's assets, in their order.
  ///   - sidecar: what this uses up.
  /// - Returns: what was made.
  /// - Throws: ``LedgerError/malformedOrder(_:detail:)`` for a request that would be too large; then
  ///   nothing has changed.
  package func recordPackage(
    orders: [HandoffOrder],
    sidecar: ConsumedSidecar? = nil
  ) async throws -> PackageRecord {
    try await write { transaction in
      var created: [Handoff.ID] = []
      var carrier: LocalIdentifier?
      for order in orders {
        guard let missing = try transaction.missing(of: order) else { continue }
        let assets = try transaction.presentAssets(missing.localIdentifiers)
        created.append(try transaction.insert(PreparedOrder(missing), assets: assets).handoffID)
        if carrier == nil { carrier = missing.localIdentifiers.first }
      }
      if let sidecar, let asset = carrier ?? orders.first?.localIdentifiers.first,
        let key = try transaction.assetKey(asset)
      {
        try transaction.consume(sidecar, asset: key.row)
      }
      return PackageRecord(created: created)
    }
  }
}

extension LedgerTransaction {
  /// The order with the assets that the destination was not ordered yet; nil if there are none.
  fileprivate func missing(of order: HandoffOrder) throws -> HandoffOrder? {
    var missing = order
    missing.localIdentifiers = try order.localIdentifiers.filter { identifier in
      guard let key = try assetKey(identifier) else { throw LedgerError.unknownAsset(identifier) }
      if try hasAutomaticHandoff(key.row, order.destination) { return false }
      if try standing([key.row], order.destination) != nil { return false }
      return try !wasEverDeleted(key.row)
    }
    return missing.localIdentifiers.isEmpty ? nil : missing
  }

  private func wasEverDeleted(_ asset: Int64) throws -> Bool {
    try connection.first(Self.findDeletion, [.integer(asset)]) { _ in true } ?? false
  }

  private static let findDeletion = SQL(
    "SELECT 1 FROM events WHERE asset = ?1 AND event = 'asset_deleted' LIMIT 1"
  )
}
