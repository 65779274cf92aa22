package import HandoffProtocol

/// What became of the wish to widen a limited destination by one asset.
package struct AllowReport: Codable, Sendable {
  package var localIdentifier: LocalIdentifier
  package var destination: DestinationName
  /// It was allowed before.
  package var wasAllowed: Bool
  /// Its handoffs to the destination that were refused as `access_limited`: they stay refused.
  package var refused: [String]

  package init(
    localIdentifier: LocalIdentifier,
    destination: DestinationName,
    wasAllowed: Bool,
    refused: [String]
  ) {
    self.localIdentifier = localIdentifier
    self.destination = destination
    self.wasAllowed = wasAllowed
    self.refused = refused
  }

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case destination
    case wasAllowed = "was_allowed"
    case refused
  }
}
