/// The parameters of `preflight`: a request that is not submitted, with what is known of its assets.
///
/// There is no handoff: the state token ends nothing, and no asset can be resolved with it.
public struct PreflightParameters: Sendable, Codable {
  /// A name of no handoff.
  public var handoffID: String
  /// The document as it would be submitted.
  public var request: HandoffRequest
  /// One for each identifier, in their order.
  public var assets: [ConstrainedAsset]

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case request
    case assets
  }

  /// Makes parameters.
  public init(handoffID: String, request: HandoffRequest, assets: [ConstrainedAsset]) {
    self.handoffID = handoffID
    self.request = request
    self.assets = assets
  }

  /// Decodes; a broker that says nothing of the assets knows nothing of them.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    handoffID = try container.decode(String.self, forKey: .handoffID)
    request = try container.decode(HandoffRequest.self, forKey: .request)
    assets = try container.decodeIfPresent([ConstrainedAsset].self, forKey: .assets) ?? []
  }
}

/// The answer to `preflight`.
public struct PreflightAnswer: Sendable, Codable, Hashable {
  /// It would be taken.
  public var accepted: Bool
  /// Why not, where it would not be.
  public var error: ResultError?
  /// What the receiver would change on the way, one sentence each, for people.
  public var changes: [String]

  /// Makes an answer.
  public init(accepted: Bool, error: ResultError? = nil, changes: [String] = []) {
    self.accepted = accepted
    self.error = error
    self.changes = changes
  }

  /// Decodes; `changes` may be missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    accepted = try container.decode(Bool.self, forKey: .accepted)
    error = try container.decodeIfPresent(ResultError.self, forKey: .error)
    changes = try container.decodeIfPresent([String].self, forKey: .changes) ?? []
  }
}
