/// The parameters of `verify`: what a receiver once said it did, to be looked at again.
///
/// It is no handoff: there is no token, no asset can be resolved, and nothing may be changed.
public struct VerifyParameters: Sendable, Codable {
  /// The broker's name for the handoff that succeeded.
  public var handoffID: String
  /// What was handed off.
  public var assets: [DeliveredAsset]
  /// The result's `output`, as the receiver gave it.
  public var output: [String: JSONValue]

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case assets
    case output
  }

  /// Makes parameters.
  public init(handoffID: String, assets: [DeliveredAsset], output: [String: JSONValue]) {
    self.handoffID = handoffID
    self.assets = assets
    self.output = output
  }
}

/// The parameters of `verify.stop`: which `verify` nobody waits for any more.
public struct StopVerifyingParameters: Sendable, Codable {
  /// As the `verify` had it.
  public var handoffID: String

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
  }

  /// Makes parameters.
  public init(handoffID: String) {
    self.handoffID = handoffID
  }
}

/// An asset of a handoff that succeeded, as the broker knows it.
public struct DeliveredAsset: Sendable, Codable, Hashable {
  /// The asset's name.
  public var localIdentifier: LocalIdentifier
  /// Of what was handed off; SHA-256 in hexadecimal.
  public var sha256: ContentDigest
  /// Bytes.
  public var size: Int64

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case sha256
    case size
  }

  /// Makes an asset.
  public init(localIdentifier: LocalIdentifier, sha256: ContentDigest, size: Int64) {
    self.localIdentifier = localIdentifier
    self.sha256 = sha256
    self.size = size
  }
}

/// The answer to `verify`.
public struct VerifyAnswer: Sendable, Codable {
  /// One for each asset that was asked about.
  public var assets: [VerifiedAsset]

  /// Makes an answer.
  public init(assets: [VerifiedAsset]) {
    self.assets = assets
  }
}

/// What a receiver found when it looked again.
public struct VerifiedAsset: Sendable, Codable, Hashable {
  /// What became of it.
  public enum Standing: String, Sendable, Codable {
    /// Its bytes were read, or the service gave a digest of them, and they are right.
    case intact
    /// It is there with the right size; nobody has looked at its bytes.
    case present
    /// Something else is there.
    case damaged
    /// Nothing is there.
    case missing
    /// It could not be looked at.
    case unknown
  }

  /// The asset's name.
  public var localIdentifier: LocalIdentifier
  /// What became of it.
  public var standing: Standing
  /// Where it was looked for, for people.
  public var location: String?
  /// What was compared, as `sha256`, `md5` or `size`.
  public var method: String?
  /// One sentence, where there is more to say.
  public var message: String?

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case standing
    case location
    case method
    case message
  }

  /// Makes an answer.
  public init(
    localIdentifier: LocalIdentifier,
    standing: Standing,
    location: String? = nil,
    method: String? = nil,
    message: String? = nil
  ) {
    self.localIdentifier = localIdentifier
    self.standing = standing
    self.location = location
    self.method = method
    self.message = message
  }
}
