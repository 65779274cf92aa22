package import HandoffProtocol

/// What `handoff delete --json` shows.
package struct DeletionReport: Codable, Sendable {
  package var localIdentifier: LocalIdentifier
  /// It had been deleted before, and nothing was changed.
  package var wasDeleted: Bool
  /// False while the library is away or fails: the broker removes the bytes as soon as it can.
  package var areBytesGone: Bool
  /// Handoffs that had not been sent and have ended as `asset_deleted`.
  package var ended: [String]
  /// Handoffs that a receiver may hold, or that wait for a person: they go on without the asset's path.
  package var open: [String]

  package init(
    localIdentifier: LocalIdentifier,
    wasDeleted: Bool,
    areBytesGone: Bool,
    ended: [String],
    open: [String]
  ) {
    self.localIdentifier = localIdentifier
    self.wasDeleted = wasDeleted
    self.areBytesGone = areBytesGone
    self.ended = ended
    self.open = open
  }

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case wasDeleted = "was_deleted"
    case areBytesGone = "bytes_gone"
    case ended
    case open
  }
}
