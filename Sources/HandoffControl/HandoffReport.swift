package import HandoffCore
package import HandoffProtocol

/// One handoff as `handoff handoffs --json` shows it.
///
/// The state token is not part of it.
package struct HandoffReport: Codable, Sendable {
  /// Why a pending handoff waits.
  package struct Waiting: Codable, Sendable {
    package var reason: WaitingReason
    @OrNull package var until: Timestamp?

    package init(reason: WaitingReason, until: Timestamp?) {
      self.reason = reason
      self.until = until
    }
  }

  /// Where a handoff stands with a person's approval.
  package struct Approval: Codable, Sendable {
    /// Of what would be sent now.
    package var digest: ContentDigest
    @OrNull package var approvedAt: Timestamp?
    /// The user id.
    @OrNull package var approvedBy: UInt32?
    /// When something else was found in the place of what was approved.
    @OrNull package var voidedAt: Timestamp?

    package init(
      digest: ContentDigest,
      approvedAt: Timestamp?,
      approvedBy: UInt32?,
      voidedAt: Timestamp?
    ) {
      self.digest = digest
      self.approvedAt = approvedAt
      self.approvedBy = approvedBy
      self.voidedAt = voidedAt
    }

    private enum CodingKeys: String, CodingKey {
      case digest
      case approvedAt = "approved_at"
      case approvedBy = "approved_by"
      case voidedAt = "voided_at"
    }
  }

  /// What its receiver found when it looked at it again.
  package struct Verification: Codable, Sendable {
    package var at: Timestamp
    /// The worst of its assets.
    package var standing: VerifiedAsset.Standing
    @OrNull package var detail: String?

    package init(at: Timestamp, standing: VerifiedAsset.Standing, detail: String?) {
      self.at = at
      self.standing = standing
      self.detail = detail
    }
  }

  /// Why a handoff did not succeed.
  package struct Failure: Codable, Sendable {
    package var code: ErrorCode
    package var message: String
    package var effect: Effect
    @OrNull package var side: Handoff.Side?
    @OrNull package var localIdentifier: LocalIdentifier?
    @OrNull package var remedy: String?

    private enum CodingKeys: String, CodingKey {
      case code
      case message
      case effect
      case side
      case localIdentifier = "local_identifier"
      case remedy
    }
  }

  /// Whether the result's origin is known, or only its token.
  package enum Origin: String, Codable, Sendable {
    case verified
    case unverified
  }

  package var id: String
  @OrNull package var key: String?
  package var destination: DestinationName
  package var localIdentifiers: [LocalIdentifier]
  package var status: HandoffStatus
  @OrNull package var waiting: Waiting?
  @OrNull package var result: String?
  @OrNull package var error: Failure?
  package var output: [String: JSONValue]
  package var attempts: Int
  @OrNull package var title: String?
  package var syncPublish: Bool
  @OrNull package var callbackID: CallbackID?
  package var protocolVersion: Int
  package var createdAt: Timestamp
  @OrNull package var submittedAt: Timestamp?
  @OrNull package var expiresAt: Timestamp?
  @OrNull package var finishedAt: Timestamp?
  package var lateResults: Int
  /// When its cancelling was asked for, while the receiver has not answered that.
  @OrNull package var cancelRequestedAt: Timestamp?
  /// What a person should do at the destination, in the receiver's words.
  @OrNull package var userNeed: String?
  package var origin: Origin
  /// What its sender was told, or is to be told; only where one handoff is shown.
  package var notices: [NoticeReport]?
  /// When its sender wants it published; only where one handoff is shown and a moment was given.
  package var publishAt: Timestamp?
  /// The same in the host's zone, with its offset.
  package var publishAtLocal: String?
  /// Where it stands with a person's approval; only where one handoff is shown and needs one.
  package var approval: Approval?
  /// What its receiver found when it last looked at it again; only where one handoff is shown.
  package var verification: Verification?
  /// What it waits for and what a person can do, in a sentence; only where one handoff is shown.
  package var explanation: String?
  /// What came after its end; only where one handoff is shown and something did.
  package var lateResultList: [LateResultReport]?

  package init(_ handoff: Handoff) {
    id = handoff.id.description
    key = handoff.key
    destination = handoff.destination
    localIdentifiers = handoff.localIdentifiers
    status = handoff.status
    waiting = handoff.waiting.map { Waiting(reason: $0.reason, until: $0.until) }
    result = handoff.result
    error = handoff.error.map { Failure($0, handoff.side) }
    output = handoff.output
    attempts = handoff.attempts
    title = handoff.title
    syncPublish = handoff.syncPublish
    callbackID = handoff.callbackID
    protocolVersion = handoff.protocolVersion
    createdAt = handoff.createdAt
    submittedAt = handoff.submittedAt
    expiresAt = handoff.expiresAt
    finishedAt = handoff.finishedAt
    lateResults = handoff.lateResults
    cancelRequestedAt = handoff.cancelRequestedAt
    userNeed = handoff.userNeed
    origin = handoff.isVerified ? .verified : .unverified
  }

  private enum CodingKeys: String, CodingKey {
    case id
    case key
    case destination
    case localIdentifiers = "local_identifiers"
    case status
    case waiting
    case result
    case error
    case output
    case attempts
    case title
    case syncPublish = "sync_publish"
    case callbackID = "callback_id"
    case protocolVersion = "protocol_version"
    case createdAt = "created_at"
    case submittedAt = "submitted_at"
    case expiresAt = "expires_at"
    case finishedAt = "finished_at"
    case lateResults = "late_results"
    case cancelRequestedAt = "cancel_requested_at"
    case userNeed = "needs_user"
    case origin
    case notices
    case publishAt = "publish_at"
    case publishAtLocal = "publish_at_local"
    case approval
    case explanation
    case verification
    case lateResultList = "late_result_list"
  }
}
