import HandoffCore
import HandoffProtocol
import SQLite

/// One row of `handoffs` with the identifiers of its assets, as it stands in the database: nothing
/// is decoded that a transition does not need.
struct HandoffRow: Sendable {
  let id: Int64
  let key: String?
  let destination: String
  /// Separated by spaces, in the order of the request.
  let identifiers: String
  let title: String?
  let syncPublish: Bool
  let callbackID: String?
  let metadata: String?
  let createdAt: Int64
  let expiresAt: Int64?
  let tokenRandom: [UInt8]
  let tokenDigest: [UInt8]
  /// The origin of its result is known, not only the token.
  var isVerified: Bool

  /// In which it was last sent; the newest before that.
  var protocolVersion: Int64
  var status: HandoffStatus
  var waitingReason: String?
  var waitingUntil: Int64?
  var dueAt: Int64?
  var ceilingAt: Int64?
  var firstAttemptAt: Int64?
  var submittedAt: Int64?
  var finishedAt: Int64?
  var attempts: Int64 = 0
  var failures: Int64 = 0
  var leaseID: Int64 = 0
  var leaseUntil: Int64?
  var result: String?
  var output: String?
  var error: StoredError?
  var lateResults: Int64 = 0
  var consumedAt: Int64?
  /// One of its assets was superseded while it was open, in a folder that holds such handoffs.
  var isSuperseded = false
  var cancelRequestedAt: Int64?
  var userNeed: String?
  /// The worst that attempts before the present one may have left behind; nil where that is nothing.
  var earlierEffect: String?

  /// An error as its columns have it.
  struct StoredError: Sendable {
    var code: String
    var message: String
    var effect: String
    var retry: String
    var retryAfter: Int64?
    var remedy: String?
    var identifier: String?
    var side: String?
  }

  /// Its receiver's answer broke the protocol, so nobody knows what was done, and the machine makes no
  /// further attempt.
  var isHeldAsMalformed: Bool {
    status == .outcomeUnknown && error?.code == ErrorCode.malformedResult.text
  }

  var handoffID: Handoff.ID { Handoff.ID(row: id) }

  /// Why it waits, and until when; it is due then, at once without a reason, and never without a time.
  mutating func wait(_ waiting: Handoff.Waiting?, now: Int64) {
    waitingReason = waiting?.reason.rawValue
    waitingUntil = waiting?.until?.milliseconds
    dueAt = waiting == nil ? now : waitingUntil
  }

  /// It is pending again after an attempt that left nothing behind; held if it was superseded since.
  mutating func comeBack(_ waiting: Handoff.Waiting?, now: Int64) {
    wait(isSuperseded ? .init(.superseded) : waiting, now: now)
  }

  /// It is pending again and nothing was sent: waiting before a submission never counts.
  mutating func comeBackUnsent(_ waiting: Handoff.Waiting?, now: Int64) {
    if failures == 0, submittedAt == nil { firstAttemptAt = nil }
    comeBack(waiting, now: now)
  }

  /// The moment has come after which it can only be expired.
  func isOverdue(at now: Int64) -> Bool {
    [expiresAt, ceilingAt].contains { $0.map { $0 <= now } ?? false }
  }

  /// No lease and no waiting reason any more.
  mutating func endWaiting() {
    waitingReason = nil
    waitingUntil = nil
    leaseUntil = nil
  }
}

extension HandoffRow {
  /// The columns in the order in which the initialiser reads them.
  static let columns = """
    id, key, destination, local_identifiers, title, sync_publish, callback_id, metadata,
    protocol_version, created_at, expires_at, token_random, token_digest, is_verified, status,
    waiting_reason, waiting_until, due_at, ceiling_at, first_attempt_at, submitted_at, finished_at,
    attempts, failures, lease_id, lease_until, result, output, late_results, consumed_at,
    error_code, error_message, error_effect, error_retry, error_retry_after_s, error_remedy,
    error_identifier, error_side, is_superseded, cancel_requested_at, user_need, earlier_effect
    """

  /// A new row: pending.
  init(_ prepared: PreparedOrder, id: Int64, tokenDigest: [UInt8], now: Int64) {
    let order = prepared.order
    self.id = id
    key = order.key
    destination = order.destination.text
    identifiers = order.localIdentifiers.map(\.text).joined(separator: " ")
    title = order.title
    syncPublish = order.syncPublish
    callbackID = order.callbackID?.text
    metadata = prepared.metadata
    protocolVersion = Int64(HandoffRequest.currentVersion)
    createdAt = now
    expiresAt = order.expiresAt?.milliseconds
    tokenRandom = prepared.random
    self.tokenDigest = tokenDigest
    isVerified = true
    status = .pending
    let publishAt = order.publishAt.flatMap { $0.milliseconds > now ? $0 : nil }
    wait(publishAt.map { .init(.publishAt, until: $0) }, now: now)
  }

  init(_ row: borrowing Row) throws {
    id = try row.integer(0)
    key = try row.optionalText(1)
    destination = try row.text(2)
    identifiers = try row.text(3)
    title = try row.optionalText(4)
    syncPublish = try row.flag(5)
    callbackID = try row.optionalText(6)
    metadata = try row.optionalText(7)
    protocolVersion = try row.integer(8)
    createdAt = try row.integer(9)
    expiresAt = try row.optionalInteger(10)
    tokenRandom = try row.blob(11)
    tokenDigest = try row.blob(12)
    isVerified = try row.flag(13)
    let statusText = try row.text(14)
    guard let status = HandoffStatus(rawValue: statusText) else {
      throw UnreadableRow(id: id, column: "status")
    }
    self.status = status
    waitingReason = try row.optionalText(15)
    waitingUntil = try row.optionalInteger(16)
    dueAt = try row.optionalInteger(17)
    ceilingAt = try row.optionalInteger(18)
    firstAttemptAt = try row.optionalInteger(19)
    submittedAt = try row.optionalInteger(20)
    finishedAt = try row.optionalInteger(21)
    attempts = try row.integer(22)
    failures = try row.integer(23)
    leaseID = try row.integer(24)
    leaseUntil = try row.optionalInteger(25)
    result = try row.optionalText(26)
    output = try row.optionalText(27)
    lateResults = try row.integer(28)
    consumedAt = try row.optionalInteger(29)
    error = row.isNull(30) ? nil : try StoredError(row, from: 30)
    isSuperseded = try row.flag(38)
    cancelRequestedAt = try row.optionalInteger(39)
    userNeed = try row.optionalText(40)
    earlierEffect = try row.optionalText(41)
  }

  /// Which columns a move writes.
  ///
  /// The fewer, the fewer checks and indexes SQLite has to go through.
  enum Saving {
    case claim
    case submission
    case all
  }

  /// The statement that saves some columns of this row if its status is still the one before, with
  /// its values.
  func saving(_ columns: Saving, from before: HandoffStatus) -> (SQL, [Value]) {
    let row = [Value.integer(id), .text(before.rawValue), .text(status.rawValue)]
    return switch columns {
    case .claim:
      (
        Self.saveClaim,
        row + [
          .integer(attempts), .optional(firstAttemptAt), .integer(leaseID), .optional(leaseUntil),
        ]
      )
    case .submission:
      (
        Self.saveSubmission,
        row + [.optional(submittedAt), .optional(ceilingAt), .integer(protocolVersion)]
      )
    case .all: (Self.saveAll, row + changes)
    }
  }

  private static let saveClaim = SQL(
    """
    UPDATE handoffs SET status = ?3, waiting_reason = NULL, waiting_until = NULL, attempts = ?4,
      first_attempt_at = ?5, lease_id = ?6, lease_until = ?7
    WHERE id = ?1 AND status = ?2
    """
  )
  private static let saveSubmission = SQL(
    """
    UPDATE handoffs SET status = ?3, lease_until = NULL, submitted_at = ?4, ceiling_at = ?5,
      protocol_version = ?6
    WHERE id = ?1 AND status = ?2
    """
  )

  private var changes: [Value] {
    [
      .optional(waitingReason), .optional(waitingUntil), .optional(dueAt),
      .optional(ceilingAt), .optional(firstAttemptAt), .optional(submittedAt),
      .optional(finishedAt), .integer(attempts), .integer(failures), .integer(leaseID),
      .optional(leaseUntil), .optional(result), .optional(output), .integer(lateResults),
      .optional(consumedAt), .optional(error?.code), .optional(error?.message),
      .optional(error?.effect), .optional(error?.retry), .optional(error?.retryAfter),
      .optional(error?.remedy), .optional(error?.identifier), .optional(error?.side),
      .flag(isSuperseded), .flag(isVerified), .optional(cancelRequestedAt), .optional(userNeed),
      .optional(earlierEffect),
    ]
  }

  private static let saveAll = SQL(
    """
    UPDATE handoffs SET status = ?3, waiting_reason = ?4, waiting_until = ?5, due_at = ?6,
      ceiling_at = ?7, first_attempt_at = ?8, submitted_at = ?9, finished_at = ?10, attempts = ?11,
      failures = ?12, lease_id = ?13, lease_until = ?14, result = ?15, output = ?16,
      late_results = ?17, consumed_at = ?18, error_code = ?19, error_message = ?20,
      error_effect = ?21, error_retry = ?22, error_retry_after_s = ?23, error_remedy = ?24,
      error_identifier = ?25, error_side = ?26, is_superseded = ?27, is_verified = ?28,
      cancel_requested_at = ?29, user_need = ?30, earlier_effect = ?31
    WHERE id = ?1 AND status = ?2
    """
  )
}

extension HandoffRow.StoredError {
  init(_ row: borrowing Row, from column: Int) throws {
    code = try row.text(column)
    message = try row.optionalText(column + 1) ?? ""
    effect = try row.text(column + 2)
    retry = try row.text(column + 3)
    retryAfter = try row.optionalInteger(column + 4)
    remedy = try row.optionalText(column + 5)
    identifier = try row.optionalText(column + 6)
    side = try row.optionalText(column + 7)
  }

  init(_ error: ResultError, _ side: Handoff.Side) {
    code = error.code.text
    message = error.message
    effect = error.effect.rawValue
    retry = error.retry.rawValue
    retryAfter = error.retryAfter.map(Int64.init)
    remedy = error.remedy
    identifier = error.localIdentifier?.text
    self.side = side.rawValue
  }
}

/// A row whose content this release cannot read, though the schema's checks let it in.
struct UnreadableRow: Error, Hashable, Sendable, CustomStringConvertible {
  let id: Int64
  let column: String

  var description: String { "row \(id): column \(column) cannot be read" }
}
