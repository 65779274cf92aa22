extension HandoffRequest: Codable {
  /// The members of all versions; ``members(of:)`` says which version has which.
  enum CodingKeys: String, CodingKey, CaseIterable {
    case protocolVersion = "protocol_version"
    case mediaType = "media_type"
    case localIdentifier = "local_identifier"
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

  /// The names of the members that a version has; every other one is unknown to it.
  ///
  /// - Parameter version: one of ``supportedVersions``.
  /// - Returns: the names as they stand in documents.
  public static func members(of version: Int) -> Set<String> {
    let keys = CodingKeys.allCases.filter { key in
      switch key {
      case .localIdentifier: version == 1
      case .localIdentifiers, .title: version >= 2
      case .syncPublish, .callbackID: version >= 3
      case .protocolVersion, .mediaType, .state, .expiresAt, .attempt, .metadata, .mustUnderstand:
        true
      }
    }
    return Set(keys.map(\.rawValue))
  }

  /// Decodes strictly: members may be unknown (unless listed in `must_understand`), but those that the
  /// document's version knows must have their shape, and values that change meaning must be known.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let version = try container.decode(Int.self, forKey: .protocolVersion)
    guard Self.supportedVersions.contains(version) else {
      throw ProtocolError(
        .versionIncompatible,
        "request of version \(version), this side reads \(Self.supportedVersions)"
      )
    }
    protocolVersion = version
    mustUnderstand = try container.decodeIfPresent([String].self, forKey: .mustUnderstand) ?? []
    let known = Self.members(of: version)
    if let foreign = mustUnderstand.first(where: { !known.contains($0) }) {
      throw ProtocolError(
        .versionIncompatible,
        "must understand \(foreign.quotedOrLength), which version \(version) does not have"
      )
    }
    mediaType = try container.decode(String.self, forKey: .mediaType)
    guard mediaType == "video" else {
      throw ProtocolError(.unsupportedMedia, "media type \(mediaType.quotedOrLength)")
    }
    localIdentifiers = try Self.identifiers(from: container, version)
    state = try container.decode(StateToken.self, forKey: .state)
    title = version < 2 ? nil : try container.decodeIfPresent(String.self, forKey: .title)
    let box = version < 3 ? nil : try container.decodeIfPresent(Bool.self, forKey: .syncPublish)
    syncPublish = box ?? false
    callbackID =
      version < 3 ? nil : try container.decodeIfPresent(CallbackID.self, forKey: .callbackID)
    expiresAt = try container.decodeIfPresent(Timestamp.self, forKey: .expiresAt)
    attempt = try container.decodeIfPresent(Int.self, forKey: .attempt) ?? 1
    guard attempt >= 1 else { throw ProtocolError(.malformedRequest, "attempt \(attempt)") }
    metadata = try container.decodeIfPresent(JSONValue.self, forKey: .metadata)
  }

  private static func identifiers(
    from container: KeyedDecodingContainer<CodingKeys>,
    _ version: Int
  ) throws -> [LocalIdentifier] {
    if version == 1 {
      return [try container.decode(LocalIdentifier.self, forKey: .localIdentifier)]
    }
    let identifiers = try container.decode([LocalIdentifier].self, forKey: .localIdentifiers)
    guard !identifiers.isEmpty, Set(identifiers).count == identifiers.count else {
      throw ProtocolError(.malformedRequest, "no local identifier, or one twice")
    }
    return identifiers
  }

  /// Encodes all members that have a value and that the document's version has.
  ///
  /// - Throws: ``ProtocolError`` with `version_incompatible` for what that version cannot carry: nothing
  ///   is left out in silence.
  public func encode(to encoder: any Encoder) throws {
    guard Self.supportedVersions.contains(protocolVersion) else {
      throw ProtocolError(.versionIncompatible, "request of version \(protocolVersion)")
    }
    if let member = memberMissing(in: protocolVersion) {
      throw ProtocolError(
        .versionIncompatible,
        "a request of version \(protocolVersion) has no \(member)"
      )
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(protocolVersion, forKey: .protocolVersion)
    try container.encode(mediaType, forKey: .mediaType)
    if protocolVersion == 1 {
      try container.encode(localIdentifiers[0], forKey: .localIdentifier)
    } else {
      try container.encode(localIdentifiers, forKey: .localIdentifiers)
    }
    try container.encode(state, forKey: .state)
    try container.encodeIfPresent(title, forKey: .title)
    if protocolVersion >= 3 { try container.encode(syncPublish, forKey: .syncPublish) }
    try container.encodeIfPresent(callbackID, forKey: .callbackID)
    try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
    try container.encode(attempt, forKey: .attempt)
    try container.encodeIfPresent(metadata, forKey: .metadata)
    if !mustUnderstand.isEmpty { try container.encode(mustUnderstand, forKey: .mustUnderstand) }
  }
}
