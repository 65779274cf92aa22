package import HandoffCore
package import HandoffProtocol
package import Paths
import SQLite

/// An order of a drop folder that becomes a handoff when a person says so: it may have been carried out
/// under a ledger that is lost.
package struct HeldOrder: Hashable, Sendable {
  package let order: HandoffOrder
  /// The export, or the package.
  package let path: BytePath
  package let heldAt: Timestamp

  init(_ row: borrowing Row) throws {
    let id = try row.integer(0)
    path = BytePath(try row.blob(1))
    guard let destination = DestinationName(try row.text(2)) else {
      throw UnreadableRow(id: id, column: "destination")
    }
    let names = try row.text(3).split(separator: " ")
    let identifiers = names.compactMap { LocalIdentifier(String($0)) }
    guard identifiers.count == names.count else {
      throw UnreadableRow(id: id, column: "local_identifiers")
    }
    var order = HandoffOrder(
      destination: destination,
      localIdentifiers: identifiers,
      isAutomatic: true
    )
    order.title = try row.optionalText(4)
    order.syncPublish = try row.flag(5)
    order.callbackID = try row.optionalText(6).flatMap(CallbackID.init)
    order.metadata = try row.optionalText(7).map {
      try WireCoder.decode(JSONValue.self, from: $0.utf8)
    }
    order.publishAt = try row.optionalInteger(8).map(Timestamp.init(milliseconds:))
    self.order = order
    heldAt = Timestamp(milliseconds: try row.integer(9))
  }
}

extension LedgerReading {
  /// The oldest orders that are held.
  package func heldOrders(limit: Int) async throws -> [HeldOrder] {
    try await readings.queue.read { connection in
      try connection.rows(HeldQueries.orders, [.integer(Int64(limit))]) { try HeldOrder($0) }
    }
  }

  /// How many orders are held.
  package func heldOrderCount() async throws -> Int {
    try await readings.queue.read { connection in
      try connection.first(HeldQueries.count) { row in Int(try row.integer(0)) } ?? 0
    }
  }

  /// What is ordered of the asset is held.
  package func isHeld(_ identifier: LocalIdentifier) async throws -> Bool {
    try await readings.queue.read { connection in
      try connection.first(HeldQueries.isNameHeld, [.text(identifier.text)]) { _ in true } ?? false
    }
  }
}

enum HeldQueries {
  private static let columns = """
    id, path, destination, local_identifiers, title, sync_publish, callback_id, metadata, publish_at,
    held_at
    """
  static let orders = SQL("SELECT \(columns) FROM held_orders ORDER BY id LIMIT ?1")
  static let count = SQL("SELECT count(*) FROM held_orders")
  static let isNameHeld = SQL(
    """
    SELECT 1 FROM held_assets AS h JOIN assets AS a ON a.id = h.asset
    WHERE a.identifier = ?1 AND a.status <> 'deleted'
    """
  )
  static let isHeld = SQL("SELECT 1 FROM held_assets WHERE asset = ?1")
  static let mark = SQL(
    "INSERT INTO held_assets (asset, held_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
  )
  static let insert = SQL(
    """
    INSERT INTO held_orders (path, destination, local_identifiers, title, sync_publish, callback_id,
      metadata, publish_at, held_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT DO UPDATE SET path = ?1, title = ?4, sync_publish = ?5, callback_id = ?6,
      metadata = ?7, publish_at = ?8 WHERE ?10 = 1
    """
  )
  static let forgetOrders = SQL("DELETE FROM held_orders")
  static let forgetAssets = SQL("DELETE FROM held_assets")
  static let isSuperseded = SQL(
    "SELECT 1 FROM assets WHERE id = ?1 AND superseded_by IS NOT NULL"
  )
}
