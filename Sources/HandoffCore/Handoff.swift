package import HandoffProtocol

/// One handoff as the ledger has it.
package struct Handoff: Sendable {
  /// The ledger's row, from which everything else that names the handoff is made.
  package struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let row: Int64

    package init(row: Int64) {
      self.row = row
    }

    /// Reads `h` and the row's number; nil for anything else.
    package init?(_ text: String) {
      guard text.hasPrefix("h"), let row = Int64(text.dropFirst()), row > 0 else { return nil }
      self.row = row
    }

    /// `h` and the row's number: not secret, and fit for a file name.
    package var description: String { "h\(row)" }

    package static func < (left: ID, right: ID) -> Bool { left.row < right.row }
  }

  /// Why a pending handoff waits, and until when if that is known.
  package struct Waiting: Hashable, Sendable {
    package var reason: WaitingReason
    package var until: Timestamp?

    package init(_ reason: WaitingReason, until: Timestamp? = nil) {
      self.reason = reason
      self.until = until
    }
  }

  /// Which side refused or failed.
  package enum Side: String, Hashable, Sendable, Codable {
    case sender
    case receiver
    case broker
  }

  package var id: ID
  /// The sender's idempotency key.
  package var key: String?
  package var destination: DestinationName
  package var localIdentifiers: [LocalIdentifier]
  package var status: HandoffStatus
  package var waiting: Waiting?
  /// `success`, `cancelled` or `failure`; nil while there is no result.
  package var result: String?
  package var error: ResultError?
  package var side: Side?
  package var output: [String: JSONValue]
  package var attempts: Int
  package var title: String?
  package var syncPublish: Bool
  package var callbackID: CallbackID?
  package var metadata: JSONValue?
  package var protocolVersion: Int
  package var createdAt: Timestamp
  package var submittedAt: Timestamp?
  package var expiresAt: Timestamp?
  package var finishedAt: Timestamp?
  /// When a person asked for its cancelling, while its receiver has not answered that yet.
  package var cancelRequestedAt: Timestamp?
  /// What a person should do at the destination, in the receiver's words.
  package var userNeed: String?
  /// How many results came after the end, or from the wrong side, and were kept apart.
  package var lateResults: Int
  /// The origin of the result is known, not only its token.
  package var isVerified: Bool

  package init(
    id: ID,
    destination: DestinationName,
    localIdentifiers: [LocalIdentifier],
    status: HandoffStatus,
    createdAt: Timestamp
  ) {
    self.id = id
    self.destination = destination
    self.localIdentifiers = localIdentifiers
    self.status = status
    self.createdAt = createdAt
    self.output = [:]
    self.attempts = 0
    self.syncPublish = false
    self.protocolVersion = HandoffRequest.currentVersion
    self.lateResults = 0
    self.isVerified = true
  }
}

/// What a sender asks for: the content of a handoff before it has a row and a token.
package struct HandoffOrder: Hashable, Sendable {
  package var destination: DestinationName
  package var localIdentifiers: [LocalIdentifier]
  package var title: String?
  package var syncPublish: Bool
  package var callbackID: CallbackID?
  package var metadata: JSONValue?
  /// The sender's idempotency key: the same key with the same body is the same handoff.
  package var key: String?
  package var expiresAt: Timestamp?
  /// The sender gave its expiry as a moment, which stays where the clock is set; else it is a duration.
  package var isExpiryMoment = false
  package var publishAt: Timestamp?
  /// It gives way to new exports: it was there before its folder was watched, was found long after it
  /// was finished, or is one of many that were sent at once.
  package var isBackfill = false
  /// Made by a drop folder, and so unique for asset and destination.
  package var isAutomatic: Bool

  package init(
    destination: DestinationName,
    localIdentifiers: [LocalIdentifier],
    isAutomatic: Bool
  ) {
    self.destination = destination
    self.localIdentifiers = localIdentifiers
    self.isAutomatic = isAutomatic
    self.syncPublish = false
  }
}
