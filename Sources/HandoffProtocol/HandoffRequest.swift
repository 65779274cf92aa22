/// The small versioned document that is sent to a destination.
///
/// The type holds what the newest version can say; ``protocolVersion`` says in which one it is written,
/// and ``carried(by:defaultTitle:)`` gives it in an older one, or the reason why that cannot be.
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
  /// The newest version that this code reads and writes.
  public static let currentVersion = 3
  /// The versions that this code reads and writes, the oldest first.
  public static let supportedVersions = [1, 2, 3]

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
