package import HandoffCore
package import HandoffProtocol

extension Handoff {
  /// The handoff of a row, with its JSON decoded; not for the writer's thread.
  ///
  /// - Parameters:
  ///   - row: as it was read.
  ///   - known: the row's output where the caller has it already.
  /// - Throws: ``UnreadableRow`` or an error of the JSON that cannot be read.
  init(_ row: HandoffRow, output known: [String: JSONValue]? = nil) throws {
    func unreadable(_ column: String) -> UnreadableRow { UnreadableRow(id: row.id, column: column) }
    guard let destination = DestinationName(row.destination) else {
      throw unreadable("destination")
    }
    let identifiers = try row.identifiers.utf8.split(separator: UInt8(ascii: " ")).map { text in
      guard let identifier = LocalIdentifier(String(Substring(text))) else {
        throw unreadable("assets")
      }
      return identifier
    }
    self.init(
      id: row.handoffID,
      destination: destination,
      localIdentifiers: identifiers,
      status: row.status,
      createdAt: Timestamp(milliseconds: row.createdAt)
    )
    key = row.key
    waiting = row.waitingReason.flatMap(WaitingReason.init).map {
      Waiting($0, until: row.waitingUntil.map(Timestamp.init(milliseconds:)))
    }
    result = row.result
    error = row.error.map(ResultError.init)
    side = row.error?.side.flatMap(Side.init)
    output = try known ?? row.output.map(Self.output) ?? [:]
    attempts = Int(row.attempts)
    title = row.title
    syncPublish = row.syncPublish
    callbackID = row.callbackID.flatMap(CallbackID.init)
    metadata = try row.metadata.map { try WireCoder.decode(JSONValue.self, from: $0.utf8) }
    protocolVersion = Int(row.protocolVersion)
    submittedAt = row.submittedAt.map(Timestamp.init(milliseconds:))
    expiresAt = row.expiresAt.map(Timestamp.init(milliseconds:))
    finishedAt = row.finishedAt.map(Timestamp.init(milliseconds:))
    cancelRequestedAt = row.cancelRequestedAt.map(Timestamp.init(milliseconds:))
    userNeed = row.userNeed
    lateResults = Int(row.lateResults)
    isVerified = row.isVerified
  }

  private static func output(_ json: String) throws -> [String: JSONValue] {
    try WireCoder.decode([String: JSONValue].self, from: json.utf8)
  }
}

extension ResultError {
  /// The error of a row; the schema checks what could be unknown.
  fileprivate init(_ stored: HandoffRow.StoredError) {
    self.init(
      ErrorCode(stored.code),
      stored.message,
      effect: Effect(rawValue: stored.effect) ?? .unknown,
      retry: RetryAdvice(rawValue: stored.retry) ?? .never,
      retryAfter: stored.retryAfter.map(Int.init),
      remedy: stored.remedy,
      localIdentifier: stored.identifier.flatMap { LocalIdentifier($0) }
    )
  }
}

/// A handoff on its way to its receiver: what to send, and the claim under which it is sent.
package struct ClaimedHandoff: Sendable {
  /// Names one claim; a later claim of the same handoff has another.
  package struct LeaseID: Hashable, Sendable {
    let number: Int64
  }

  package let handoff: Handoff
  /// With its state token, in the newest version.
  package let request: HandoffRequest
  /// The request in the version in which it was last sent.
  package var sent: HandoffRequest { request.written(in: handoff.protocolVersion) }
  package let leaseID: LeaseID

  init(_ row: HandoffRow, token: StateToken) throws {
    handoff = try Handoff(row)
    leaseID = LeaseID(number: row.leaseID)
    request = HandoffRequest(
      localIdentifiers: handoff.localIdentifiers,
      state: token,
      title: handoff.title,
      syncPublish: handoff.syncPublish,
      callbackID: handoff.callbackID,
      expiresAt: handoff.expiresAt,
      attempt: max(1, handoff.attempts),
      metadata: handoff.metadata
    )
  }
}
