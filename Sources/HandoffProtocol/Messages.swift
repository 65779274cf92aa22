/// The names of the messages between broker and receiver; see DESIGN.md section 7.
public enum MessageMethod: String, Sendable, CaseIterable {
  // Broker to receiver.

  /// Who are you, and what do you take?
  case discover
  /// Are you well?
  case status
  /// Would you take this request, and what would you change?
  case preflight
  /// Take this request; its result follows in a message of its own.
  case submit
  /// What do you know of this handoff?
  case probe
  /// Give this handoff up.
  case cancel
  /// Here is all that I hold open: tell me what you know.
  case reconcile
  /// You once did this: is it still as you said?
  case verify
  /// Nobody waits for the answer to that `verify` any more; it has no answer itself.
  case stopVerifying = "verify.stop"
  /// End: no more requests will come.
  case shutdown

  // Receiver to broker.

  /// Where can I read this asset?
  case resolveAsset = "asset.resolve"
  /// Here is what I derived from an asset.
  case registerAsset = "asset.register"
  /// A sign of life.
  case progress = "handoff.progress"
  /// How a request ended.
  case result = "handoff.result"
  /// A line for the broker's log.
  case log
}

/// The answer to `discover`.
public struct Discovery: Sendable, Codable, Hashable {
  /// The receiver's own name, not the configured one.
  public var name: String
  /// The receiver's own version.
  public var version: String
  /// The versions of the request document that it reads.
  public var protocolVersions: [Int]
  /// What the receiver takes; see ``Constraints``.
  public var constraints: Constraints?
  /// Optional parts of the protocol: `reconcile`, `probe`, `cancel`, `preflight`, `status`, `verify`.
  public var capabilities: [String]?
  /// A JSON Schema of the settings.
  public var settingsSchema: JSONValue?

  private enum CodingKeys: String, CodingKey {
    case name
    case version
    case protocolVersions = "protocol_versions"
    case constraints
    case capabilities
    case settingsSchema = "settings_schema"
  }

  /// Makes an answer.
  public init(
    name: String,
    version: String,
    protocolVersions: [Int],
    constraints: Constraints? = nil,
    capabilities: [String] = [],
    settingsSchema: JSONValue? = nil
  ) {
    self.name = name
    self.version = version
    self.protocolVersions = protocolVersions
    self.constraints = constraints
    self.capabilities = capabilities
    self.settingsSchema = settingsSchema
  }

  /// Decodes; a receiver that states no versions has none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(String.self, forKey: .version)
    protocolVersions = try container.decodeIfPresent([Int].self, forKey: .protocolVersions) ?? []
    constraints = try container.decodeIfPresent(Constraints.self, forKey: .constraints)
    capabilities = try container.decodeIfPresent([String].self, forKey: .capabilities)
    settingsSchema = try container.decodeIfPresent(JSONValue.self, forKey: .settingsSchema)
  }
}

/// What a receiver, or the configuration of a destination, takes; a missing member limits nothing.
public struct Constraints: Sendable, Codable, Hashable {
  /// Seconds.
  public var minDuration: Double?
  /// Seconds.
  public var maxDuration: Double?
  /// Bytes.
  public var maxSize: Int64?
  /// Assets in one request.
  public var maxCount: Int?
  /// Codec names as in asset records (`h264`, `hevc`, `prores`).
  public var videoCodecs: [String]?
  /// Container names as in asset records (`mp4`, `mov`, `matroska`, `webm`).
  public var containers: [String]?
  /// Pixels as displayed.
  public var maxWidth: Int?
  /// Pixels as displayed.
  public var maxHeight: Int?

  private enum CodingKeys: String, CodingKey {
    case minDuration = "min_duration_s"
    case maxDuration = "max_duration_s"
    case maxSize = "max_size"
    case maxCount = "max_count"
    case videoCodecs = "video_codecs"
    case containers
    case maxWidth = "max_width"
    case maxHeight = "max_height"
  }

  /// Makes constraints that limit nothing.
  public init() {}
}

/// The parameters of `discover`: what the broker speaks and how the destination is configured.
public struct DiscoverParameters: Sendable, Codable {
  /// The versions of the request document that the broker writes.
  public var protocolVersions: [Int]
  /// The configured name.
  public var destination: DestinationName
  /// The destination's own `settings` table.
  public var settings: JSONValue

  private enum CodingKeys: String, CodingKey {
    case protocolVersions = "protocol_versions"
    case destination
    case settings
  }

  /// Makes parameters.
  public init(protocolVersions: [Int], destination: DestinationName, settings: JSONValue) {
    self.protocolVersions = protocolVersions
    self.destination = destination
    self.settings = settings
  }
}

/// The parameters of `submit`, and each element of `reconcile`.
public struct SubmitParameters: Sendable, Codable {
  /// The broker's name for the handoff: fit for a file name, not secret, the same over attempts.
  public var handoffID: String
  /// The document itself.
  public var request: HandoffRequest

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case request
  }

  /// Makes parameters.
  public init(handoffID: String, request: HandoffRequest) {
    self.handoffID = handoffID
    self.request = request
  }
}

/// The answer to `submit`.
///
/// A receiver that does not accept says why in ``error``; the handoff then ends (or waits) without a
/// result message.
public struct SubmitAnswer: Sendable, Codable {
  /// A result will follow.
  public var accepted: Bool
  /// Why not, where it is not accepted.
  public var error: ResultError?

  /// Makes an answer.
  public init(accepted: Bool, error: ResultError? = nil) {
    self.accepted = accepted
    self.error = error
  }
}

/// The parameters of `reconcile`: everything that the broker holds open for this destination.
public struct ReconcileParameters: Sendable, Codable {
  /// Each with the request as it was submitted.
  public var handoffs: [SubmitParameters]

  /// Makes parameters.
  public init(handoffs: [SubmitParameters]) {
    self.handoffs = handoffs
  }
}

/// What a receiver knows of one handoff: an element of the answer to `reconcile`, or the answer to `probe`.
public struct HandoffKnowledge: Sendable, Codable {
  /// How far it came.
  public enum Standing: String, Sendable, Codable {
    /// Never arrived, or nothing was done: submitting again is safe.
    case notReceived = "not_received"
    /// Being worked on now; a result will follow.
    case working
    /// Waiting for a person; ``HandoffKnowledge/message`` says what to do.
    case needsUser = "needs_user"
    /// Ended; ``HandoffKnowledge/result`` says how.
    case finished
    /// The receiver cannot tell.
    case unknown
  }

  /// The broker's name for the handoff.
  public var handoffID: String
  /// How far it came.
  public var standing: Standing
  /// How it ended, where it is finished.
  public var result: HandoffResult?
  /// What the person should do, where it waits for one.
  public var message: String?

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case standing
    case result
    case message
  }

  /// Makes an answer.
  public init(
    handoffID: String,
    standing: Standing,
    result: HandoffResult? = nil,
    message: String? = nil
  ) {
    self.handoffID = handoffID
    self.standing = standing
    self.result = result
    self.message = message
  }
}

/// The answer to `reconcile`.
public struct ReconcileAnswer: Sendable, Codable {
  /// One for each handoff that was asked about.
  public var handoffs: [HandoffKnowledge]

  /// Makes an answer.
  public init(handoffs: [HandoffKnowledge]) {
    self.handoffs = handoffs
  }
}

/// The parameters of `probe` and `cancel`.
public struct HandoffReference: Sendable, Codable {
  /// The broker's name for the handoff.
  public var handoffID: String
  /// The token of its request.
  public var state: StateToken

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case state
  }

  /// Makes a reference.
  public init(handoffID: String, state: StateToken) {
    self.handoffID = handoffID
    self.state = state
  }
}

/// The parameters of `asset.resolve`.
public struct ResolveParameters: Sendable, Codable {
  /// The token of the request that the asset belongs to.
  public var state: StateToken
  /// One of the request's identifiers.
  public var localIdentifier: LocalIdentifier

  private enum CodingKeys: String, CodingKey {
    case state
    case localIdentifier = "local_identifier"
  }

  /// Makes parameters.
  public init(state: StateToken, localIdentifier: LocalIdentifier) {
    self.state = state
    self.localIdentifier = localIdentifier
  }
}

/// The answer to `asset.resolve`: a read-only path that ends with the handoff, and what is known of
/// the asset.
public struct ResolvedAsset: Sendable, Codable {
  /// Absolute; its last part is the export's own file name.
  ///
  /// Where that is not UTF-8, ``pathBytes`` is exact.
  public var path: String
  /// The path's bytes in base64, only where they are not UTF-8.
  public var pathBytes: String?
  /// SHA-256 in hexadecimal.
  public var sha256: ContentDigest
  /// Bytes.
  public var size: Int64
  /// Named as in asset records (`mp4`, `mov`, `matroska`, `webm`).
  public var container: String?
  /// Named as in asset records (`h264`, `hevc`, `prores`).
  public var videoCodec: String?
  /// Pixels as displayed.
  public var width: Int?
  /// Pixels as displayed.
  public var height: Int?
  /// Degrees clockwise: 0, 90, 180 or 270.
  public var rotation: Int?
  /// Seconds as played.
  public var duration: Double?
  /// The newer asset, where the export was exported again since: this one may be out of date.
  public var supersededBy: LocalIdentifier?
  /// What is given instead of the original, where the destination asks for that (`use`).
  public var rendition: RenditionName?

  private enum CodingKeys: String, CodingKey {
    case path
    case pathBytes = "path_bytes"
    case sha256
    case size
    case container
    case videoCodec = "video_codec"
    case width
    case height
    case rotation
    case duration = "duration_s"
    case supersededBy = "superseded_by"
    case rendition
  }

  /// Makes an answer.
  public init(path: String, pathBytes: String? = nil, sha256: ContentDigest, size: Int64) {
    self.path = path
    self.pathBytes = pathBytes
    self.sha256 = sha256
    self.size = size
  }
}

/// The parameters of `handoff.progress`: a sign of life.
public struct ProgressParameters: Sendable, Codable {
  /// The token of the request that is worked on.
  public var state: StateToken
  /// 0 to 1, where it can be told.
  public var fraction: Double?
  /// For people.
  public var message: String?
  /// What a person has to do before the work goes on; until the next progress without it, silence is no
  /// sign of trouble.
  public var needsUser: String?

  private enum CodingKeys: String, CodingKey {
    case state
    case fraction
    case message
    case needsUser = "needs_user"
  }

  /// Makes parameters.
  public init(
    state: StateToken,
    fraction: Double? = nil,
    message: String? = nil,
    needsUser: String? = nil
  ) {
    self.state = state
    self.fraction = fraction
    self.message = message
    self.needsUser = needsUser
  }
}

/// The parameters of `log`.
public struct LogParameters: Sendable, Codable {
  /// `debug`, `info`, `notice`, `warning` or `error`.
  public var level: String
  /// One line.
  public var message: String

  /// Makes parameters.
  public init(level: String, message: String) {
    self.level = level
    self.message = message
  }
}
