/// The small versioned document that is sent to a destination, protocol version 3.
public struct HandoffRequest: Sendable {
  /// The version this document is written in.
  public var protocolVersion: Int
  /// What is handed off; `video` is the only kind so far.
  public var mediaType: String
  /// One or more; all of them are one request.
  public var localIdentifiers: [LocalIdentifier]
  /// Returned unchanged with the result, once.
  public var state: StateToken
  /// For people; not a file name.
  public var title: String?
  /// The sender ticked "also publish".
  public var syncPublish: Bool
  /// Where the sender hears the result.
  public var callbackID: CallbackID?
  /// After this moment no result counts; only where the sender asked for it.
  public var expiresAt: Timestamp?
  /// Counts from 1.
  public var attempt: Int
  /// The sender's own; at most what fits in the document.
  public var metadata: JSONValue?
  /// Names of members that a receiver may not ignore.
  public var mustUnderstand: [String]

  /// The largest document, in bytes.
  public static let maximumSize = 16_384
  /// The version written by this code.
  public static let currentVersion = 3

  /// Makes a request in the current version.
  public init(
    localIdentifiers: [LocalIdentifier],
    state: StateToken,
    title: String? = nil,
    syncPublish: Bool = false,
    callbackID: CallbackID? = nil,
    expiresAt: Timestamp? = nil,
    attempt: Int = 1,
    metadata: JSONValue? = nil
  ) {
    self.protocolVersion = Self.currentVersion
    self.mediaType = "video"
    self.localIdentifiers = localIdentifiers
    self.state = state
    self.title = title
    self.syncPublish = syncPublish
    self.callbackID = callbackID
    self.expiresAt = expiresAt
    self.attempt = attempt
    self.metadata = metadata
    self.mustUnderstand = []
  }
}

extension HandoffRequest: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case protocolVersion = "protocol_version"
    case mediaType = "media_type"
    case localIdentifiers = "local_identifiers"
    case state
    case title
    case syncPublish = "sync_publish"
    case callbackID = "callback_id"
    case expiresAt = "expires_at"
    case attempt
    case metadata
    case mustUnderstand = "must_understand"
  }

  /// Decodes strictly: members may be unknown (unless listed in `must_understand`), but those that are
  /// known must have their shape, and values that change meaning must be known.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    protocolVersion = try container.decode(Int.self, forKey: .protocolVersion)
    guard protocolVersion == Self.currentVersion else {
      throw ProtocolError(.versionIncompatible, "request of version \(protocolVersion)")
    }
    mediaType = try container.decode(String.self, forKey: .mediaType)
    guard mediaType == "video" else {
      throw ProtocolError(.unsupportedMedia, "media type \(mediaType.prefix(40))")
    }
    localIdentifiers = try container.decode([LocalIdentifier].self, forKey: .localIdentifiers)
    guard !localIdentifiers.isEmpty, Set(localIdentifiers).count == localIdentifiers.count else {
      throw ProtocolError(.malformedRequest, "no local identifier, or one twice")
    }
    state = try container.decode(StateToken.self, forKey: .state)
    title = try container.decodeIfPresent(String.self, forKey: .title)
    syncPublish = try container.decodeIfPresent(Bool.self, forKey: .syncPublish) ?? false
    callbackID = try container.decodeIfPresent(CallbackID.self, forKey: .callbackID)
    expiresAt = try container.decodeIfPresent(Timestamp.self, forKey: .expiresAt)
    attempt = try container.decodeIfPresent(Int.self, forKey: .attempt) ?? 1
    guard attempt >= 1 else { throw ProtocolError(.malformedRequest, "attempt \(attempt)") }
    metadata = try container.decodeIfPresent(JSONValue.self, forKey: .metadata)
    mustUnderstand = try container.decodeIfPresent([String].self, forKey: .mustUnderstand) ?? []
    let known = Set(CodingKeys.allCases.map(\.rawValue))
    if let foreign = mustUnderstand.first(where: { !known.contains($0) }) {
      throw ProtocolError(.versionIncompatible, "must understand \(foreign.prefix(40))")
    }
  }

  /// Encodes all members that have a value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(protocolVersion, forKey: .protocolVersion)
    try container.encode(mediaType, forKey: .mediaType)
    try container.encode(localIdentifiers, forKey: .localIdentifiers)
    try container.encode(state, forKey: .state)
    try container.encodeIfPresent(title, forKey: .title)
    try container.encode(syncPublish, forKey: .syncPublish)
    try container.encodeIfPresent(callbackID, forKey: .callbackID)
    try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
    try container.encode(attempt, forKey: .attempt)
    try container.encodeIfPresent(metadata, forKey: .metadata)
    if !mustUnderstand.isEmpty { try container.encode(mustUnderstand, forKey: .mustUnderstand) }
  }
}
