package import HandoffProtocol
import SQLite

extension LedgerReading {
  /// An import of the asset has used up a sidecar: there was a check box, so there is a receipt.
  package func hasConsumedSidecar(_ identifier: LocalIdentifier) async throws -> Bool {
    try await readings.queue.read { connection in
      try connection.first(SidecarQueries.ofAsset, [.text(identifier.text)]) { _ in true } ?? false
    }
  }
}

private enum SidecarQueries {
  static let ofAsset = SQL(
    """
    SELECT 1 FROM sidecars
    WHERE asset = (SELECT id FROM assets WHERE identifier = ?1) LIMIT 1
    """
  )
}
