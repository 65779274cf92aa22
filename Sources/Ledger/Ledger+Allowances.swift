import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Widens a limited destination by one asset, for good.
  ///
  /// - Returns: false where it was allowed before.
  /// - Throws: ``LedgerError`` for an unknown or deleted asset.
  @discardableResult
  package func allow(
    _ identifier: LocalIdentifier,
    to destination: DestinationName
  ) async throws -> Bool {
    try await write { transaction in try transaction.allow(identifier, destination) }
  }
}

extension LedgerReading {
  /// A person has widened the destination by this asset.
  package func isAllowed(
    _ identifier: LocalIdentifier,
    to destination: DestinationName
  ) async throws -> Bool {
    try await readings.queue.read { connection in
      let values: [Value] = [.text(identifier.text), .text(destination.text)]
      return try connection.first(AllowanceQueries.find, values) { _ in true } ?? false
    }
  }
}

extension LedgerTransaction {
  func allow(
    _ identifier: LocalIdentifier,
    _ destination: DestinationName
  ) throws -> Bool {
    let assets = try presentAssets([identifier])
    guard let asset = assets.first else { throw LedgerError.unknownAsset(identifier) }
    let now = self.now
    let written = try connection.run(
      AllowanceQueries.insert,
      [.integer(asset), .text(destination.text), .integer(now)]
    )
    guard written > 0 else { return false }
    try record(Event(at: now, kind: "allowed", asset: asset, destination: destination.text))
    touch(destination.text)
    return true
  }
}

private enum AllowanceQueries {
  static let insert = SQL(
    "INSERT OR IGNORE INTO allowances (asset, destination, allowed_at) VALUES (?1, ?2, ?3)"
  )
  static let find = SQL(
    """
    SELECT 1 FROM allowances WHERE asset = (SELECT id FROM assets WHERE identifier = ?1)
      AND destination = ?2
    """
  )
}
