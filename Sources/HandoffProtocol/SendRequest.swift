/// What a sender asks the broker for: one handoff of one or more assets to one destination.
///
/// The type holds what the newest version can say; a document of version 1 has one `local_identifier` and
/// no `title`, one of version 2 neither `sync_publish` nor `callback_id`.
public struct SendRequest: Sendable, Hashable {
  /// The version this document is written in.
  public var protocolVersion: Int
  /// What is handed off; `video` is the only kind so far.
  public var mediaType: String
  /// One or more; all of them are one handoff.
  public var localIdentifiers: [LocalIdentifier]
  /// The configured name of the destination.
  public var destination: DestinationName
  /// For people; not a file name.
  public var title: String?
  /// The sender ticks "also publish".
  public var syncPublish: Bool
  /// A configured callback id, where the sender hears the result.
  public var callbackID: CallbackID?
  /// It is held by the broker until this moment.
  public var publishAt: Timestamp?
  /// Milliseconds from now after which no result counts.
  public var expiresInMilliseconds: Int64?
  /// The moment after which no result counts; not together with ``expiresInMilliseconds``.
  public var expiresAt: Timestamp?
  /// The sender's idempotency key: the same key and body are the same handoff.
  ///
  /// Receivers never see it; callback notices carry it.
  public var key: String?
  /// The sender's own; it reaches the receiver as it is.
  public var metadata: JSONValue?
  /// Names of members that the broker may not ignore.
  public var mustUnderstand: [String]

  /// The longest key, in bytes.
  public static let maximumKey = 256

  /// Makes a document in the current version.
  public init(
    _ localIdentifiers: [LocalIdentifier],
    to destination: DestinationName,
    title: String? = nil,
    syncPublish: Bool = false,
    callbackID: CallbackID? = nil,
    key: String? = nil
  ) {
    self.protocolVersion = HandoffRequest.currentVersion
    self.mediaType = "video"
    self.localIdentifiers = localIdentifiers
    self.destination = destination
    self.title = title
    self.syncPublish = syncPublish
    self.callbackID = callbackID
    self.key = key
    self.mustUnderstand = []
  }

  /// Why it is refused whatever the broker's configuration and assets are; nil if nothing speaks
  /// against it.
  public func violation(now: Timestamp) -> ResultError? {
    func malformed(_ message: String) -> ResultError {
      ResultError(.malformedRequest, message, effect: .none)
    }
    guard !localIdentifiers.isEmpty else { return malformed("no local identifier") }
    guard Set(localIdentifiers).count == localIdentifiers.count else {
      return malformed("a local identifier twice")
    }
    if let key, !(1...Self.maximumKey).contains(key.utf8.count) {
      return malformed("the key takes 1 to \(Self.maximumKey) bytes")
    }
    if expiresAt != nil, expiresInMilliseconds != nil {
      return malformed("expires_at and expires_in_ms, of which one is enough")
    }
    if let time = expiresInMilliseconds, time <= 0 {
      return malformed("expires_in_ms is not above 0")
    }
    if let expiry = expiry(now: now), !expiry.isWritable {
      return malformed("the expiry is after the year 9999")
    }
    if let expiresAt, expiresAt <= now {
      return ResultError(.expired, "expired at \(expiresAt.rfc3339)", effect: .none)
    }
    return nil
  }

  /// The moment after which no result counts, reckoned from now where a time was given.
  public func expiry(now: Timestamp) -> Timestamp? {
    expiresAt ?? expiresInMilliseconds.map { now.advanced(by: .milliseconds($0)) }
  }
}
