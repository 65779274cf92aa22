package import HandoffCore
import HandoffProtocol
import Paths
import SQLite

extension Ledger {
  /// Makes the handoffs of all orders that are held, as one change with the note that a person has said so.
  ///
  /// What was handed off or deleted meanwhile is left out. Handoffs of assets that were superseded
  /// meanwhile wait for a person, since a newer one may be out already.
  ///
  /// - Returns: what was made.
  @discardableResult
  package func resumeHandoffs() async throws -> [Handoff.ID] {
    try await write { transaction in
      let held = try transaction.connection.rows(HeldQueries.orders, [.integer(.max)]) {
        try HeldOrder($0)
      }
      let made = try held.compactMap { try transaction.release($0.order) }
      try transaction.connection.run(HeldQueries.forgetOrders)
      try transaction.connection.run(HeldQueries.forgetAssets)
      try transaction.note(.resumed, Timestamp(milliseconds: transaction.now))
      return made
    }
  }
}

extension LedgerTransaction {
  /// From now on, what is ordered of the asset is held.
  func markHeld(_ asset: Int64) throws {
    try connection.run(HeldQueries.mark, [.integer(asset), .integer(now)])
  }

  func isHeld(_ asset: Int64) throws -> Bool {
    try connection.first(HeldQueries.isHeld, [.integer(asset)]) { _ in true } ?? false
  }

  /// Writes an order down instead of making it.
  ///
  /// One that is a new word, since a sidecar says it, replaces one for the same assets and destination
  /// that was written down before.
  func hold(_ prepared: PreparedOrder, from path: BytePath, isNewWord: Bool) throws {
    let order = prepared.order
    try connection.run(
      HeldQueries.insert,
      [
        .blob(path.bytes), .text(order.destination.text),
        .text(order.localIdentifiers.map(\.text).joined(separator: " ")), .optional(order.title),
        .flag(order.syncPublish), .optional(order.callbackID?.text), .optional(prepared.metadata),
        .optional(order.publishAt?.milliseconds), .integer(now), .flag(isNewWord),
      ]
    )
  }

  /// The pair may have been handed off, or will be.
  func isOrdered(_ asset: Int64, _ destination: DestinationName) throws -> Bool {
    if try hasAutomaticHandoff(asset, destination) { return true }
    return try orderChecks.standing([asset], destination) != nil
      || orderChecks.pastStanding([asset], destination) != nil
  }

  fileprivate func release(_ held: HandoffOrder) throws -> Handoff.ID? {
    var order = held
    // It has waited since the rebuild; what is exported now is waited for.
    order.isBackfill = true
    order.localIdentifiers = []
    var assets: [Int64] = []
    for identifier in held.localIdentifiers {
      guard let key = try assetKey(identifier), key.status != Asset.Status.deleted.rawValue,
        try !isOrdered(key.row, held.destination)
      else { continue }
      order.localIdentifiers.append(identifier)
      assets.append(key.row)
    }
    guard !assets.isEmpty else { return nil }
    let row = try insert(PreparedOrder(order), assets: assets)
    for asset in assets {
      let isSuperseded = try connection.first(HeldQueries.isSuperseded, [.integer(asset)]) { _ in
        true
      }
      if isSuperseded != nil { try holdAsSuperseded(asset) }
    }
    return row.handoffID
  }
}
