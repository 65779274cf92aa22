extension SendRequest: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case protocolVersion = "protocol_version"
    case mediaType = "media_type"
    case localIdentifier = "local_identifier"
    case localIdentifiers = "local_identifiers"
    case destination
    case title
    case syncPublish = "sync_publish"
    case callbackID = "callback_id"
    case publishAt = "publish_at"
    case expiresInMilliseconds = "expires_in_ms"
    case expiresAt = "expires_at"
    case key
    case metadata
    case mustUnderstand = "must_understand"
  }

  /// The names of the members that a version has; every other one is unknown to it.
  ///
  /// - Parameter version: one of `HandoffRequest.supportedVersions`.
  /// - Returns: the names as they stand in documents.
  public static func members(of version: Int) -> Set<String> {
    let keys = CodingKeys.allCases.filter { key in
      switch key {
      case .localIdentifier: version == 1
      case .localIdentifiers, .title: version >= 2
      case .syncPublish, .callbackID: version >= 3
      case .protocolVersion, .mediaType, .destination, .publishAt, .expiresInMilliseconds,
        .expiresAt, .key, .metadata, .mustUnderstand:
        true
      }
    }
    return Set(keys.map(\.rawValue))
  }

  /// Decodes as strictly as ``HandoffRequest`` does.
  ///
  /// - Throws: ``ProtocolError``: `version_incompatible` naming both sides' versions,
  ///   `destination_unknown` or `callback_unknown` for what can be no configured name,
  ///   `unsupported_media`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let version = try container.decode(Int.self, forKey: .protocolVersion)
    guard HandoffRequest.supportedVersions.contains(version) else {
      throw ProtocolError(
        .versionIncompatible,
        "the sender writes version \(version), the broker reads "
          + "\(HandoffRequest.supportedVersions)"
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
    mediaType = try container.decodeIfPresent(String.self, forKey: .mediaType) ?? "video"
    guard mediaType == "video" else {
      throw ProtocolError(.unsupportedMedia, "media type \(mediaType.quotedOrLength)")
    }
    localIdentifiers =
      version == 1
      ? [try container.decode(LocalIdentifier.self, forKey: .localIdentifier)]
      : try container.decode([LocalIdentifier].self, forKey: .localIdentifiers)
    let name = try container.decode(String.self, forKey: .destination)
    guard let destination = DestinationName(name) else {
      throw ProtocolError(.destinationUnknown, "\(name.quotedOrLength) is no destination's name")
    }
    self.destination = destination
    title = version < 2 ? nil : try container.decodeIfPresent(String.self, forKey: .title)
    let box = version < 3 ? nil : try container.decodeIfPresent(Bool.self, forKey: .syncPublish)
    syncPublish = box ?? false
    callbackID = version < 3 ? nil : try Self.callback(from: container)
    publishAt = try container.decodeIfPresent(Timestamp.self, forKey: .publishAt)
    expiresInMilliseconds =
      try container.decodeIfPresent(Int64.self, forKey: .expiresInMilliseconds)
    expiresAt = try container.decodeIfPresent(Timestamp.self, forKey: .expiresAt)
    key = try container.decodeIfPresent(String.self, forKey: .key)
    metadata = try container.decodeIfPresent(JSONValue.self, forKey: .metadata)
  }

  private static func callback(
    from container: KeyedDecodingContainer<CodingKeys>
  ) throws -> CallbackID? {
    guard let text = try container.decodeIfPresent(String.self, forKey: .callbackID) else {
      return nil
    }
    guard let callback = CallbackID(text) else {
      throw ProtocolError(.callbackUnknown, "\(text.quotedOrLength) is no callback's id")
    }
    return callback
  }

  /// Encodes all members that have a value and that the document's version has.
  ///
  /// - Throws: ``ProtocolError`` with `version_incompatible` for what that version cannot carry.
  public func encode(to encoder: any Encoder) throws {
    if let member = memberMissing {
      throw ProtocolError(
        .versionIncompatible,
        "a sender's document of version \(protocolVersion) has no \(member)"
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
    try container.encode(destination, forKey: .destination)
    try container.encodeIfPresent(title, forKey: .title)
    if protocolVersion >= 3 { try container.encode(syncPublish, forKey: .syncPublish) }
    try container.encodeIfPresent(callbackID, forKey: .callbackID)
    try container.encodeIfPresent(publishAt, forKey: .publishAt)
    try container.encodeIfPresent(expiresInMilliseconds, forKey: .expiresInMilliseconds)
    try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
    try container.encodeIfPresent(key, forKey: .key)
    try container.encodeIfPresent(metadata, forKey: .metadata)
    if !mustUnderstand.isEmpty { try container.encode(mustUnderstand, forKey: .mustUnderstand) }
  }

  /// The first member that holds something and that the version does not have, or nil.
  private var memberMissing: String? {
    if protocolVersion < 2, localIdentifiers.count != 1 {
      return "\(localIdentifiers.count) local_identifiers"
    }
    if protocolVersion < 2, title != nil { return "title" }
    if protocolVersion < 3, syncPublish { return "sync_publish" }
    if protocolVersion < 3, callbackID != nil { return "callback_id" }
    return nil
  }
}
