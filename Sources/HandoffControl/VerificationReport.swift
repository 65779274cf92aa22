package import HandoffProtocol

/// What a receiver found when it looked again at one handoff, as `handoff destinations verify --json` lists it.
package struct VerificationReport: Codable, Sendable {
  package var handoffID: String
  package var destination: DestinationName
  @OrNull package var title: String?
  package var at: Timestamp
  /// The worst of its assets.
  package var standing: VerifiedAsset.Standing
  /// Of what was handed off.
  package var bytes: Int64
  package var assets: [VerifiedAsset]
  /// Why there is no answer; then the standing is `unknown`.
  @OrNull package var error: String?

  package init(
    handoffID: String,
    destination: DestinationName,
    title: String?,
    at: Timestamp,
    standing: VerifiedAsset.Standing,
    bytes: Int64,
    assets: [VerifiedAsset]
  ) {
    self.handoffID = handoffID
    self.destination = destination
    self.at = at
    self.standing = standing
    self.bytes = bytes
    self.assets = assets
    self.title = title
    error = nil
  }

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case destination
    case title
    case at
    case standing
    case bytes
    case assets
    case error
  }
}

extension VerifiedAsset.Standing {
  /// From the best to the worst.
  package static let inOrder: [VerifiedAsset.Standing] = [
    .intact, .present, .unknown, .missing, .damaged,
  ]

  /// The worst of several; unknown where there are none.
  package static func worst(of standings: [VerifiedAsset.Standing]) -> VerifiedAsset.Standing {
    inOrder.last { standings.contains($0) } ?? .unknown
  }
}
