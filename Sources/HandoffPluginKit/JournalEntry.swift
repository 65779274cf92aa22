import HandoffProtocol

/// What the receiver durably knows of one handoff.
///
/// It never holds the state token: whoever asks for a result brings it.
struct JournalEntry: Sendable, Codable {
  /// A recorded step, with whatever the author wants to find again.
  struct Stage: Sendable, Codable {
    var name: String
    var data: JSONValue
    var at: Timestamp
  }

  /// How it ended: a result document without its token.
  struct Ending: Sendable, Codable {
    enum Kind: String, Sendable, Codable {
      case success
      case cancelled
      case failure
    }

    var kind: Kind
    var output: [String: JSONValue]?
    var error: ResultError?
    var at: Timestamp
  }

  var handoffID: String
  /// ``ReceivedHandoff/idempotencyKey``; ties the entry to its token.
  var key: String
  /// The request document without its `state`.
  var request: [String: JSONValue]
  var attempt: Int
  /// When the handoff first came here.
  var receivedAt: Timestamp
  var stage: Stage?
  var ending: Ending?
  /// The broker has answered the result.
  var isAcknowledged: Bool

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case key
    case request
    case attempt
    case receivedAt = "received_at"
    case stage
    case ending
    case isAcknowledged = "acknowledged"
  }

  /// An entry for a handoff that has come; what an earlier attempt recorded stays.
  init(_ handoff: ReceivedHandoff, after earlier: JournalEntry?, now: Timestamp) {
    handoffID = handoff.id
    key = handoff.idempotencyKey
    request = handoff.document
    attempt = handoff.attempt
    receivedAt = earlier?.receivedAt ?? now
    stage = earlier?.stage
    isAcknowledged = false
  }

  /// The version of the request.
  var version: Int {
    request["protocol_version"]?.integer.map(Int.init) ?? HandoffRequest.currentVersion
  }

  /// The handoff again, with the token that the broker has brought.
  func handoff(_ state: StateToken) throws -> ReceivedHandoff {
    var members = request
    members["state"] = .string(state.revealed)
    let request = try WireCoder.document(HandoffRequest.self, from: .object(members))
    return try ReceivedHandoff(SubmitParameters(handoffID: handoffID, request: request))
  }

  /// A person may have it tried again, which must begin with the recorded step: it is never forgotten.
  var isUnknown: Bool { ending?.isUnknown == true }

  /// A person, or the broker after a failure without effect, has it tried again.
  ///
  /// What was done is never done again.
  func isNewAttempt(_ handoff: ReceivedHandoff) -> Bool {
    handoff.attempt > attempt && ending?.kind != .success
  }
}

extension JournalEntry.Ending {
  init(_ outcome: HandoffResult.Outcome, at moment: Timestamp) {
    at = moment
    switch outcome {
    case .success(let output):
      kind = .success
      self.output = output
    case .cancelled(let error):
      kind = .cancelled
      self.error = error
    case .failure(let error):
      kind = .failure
      self.error = error
    }
  }

  /// Nobody knows whether it was done.
  var isUnknown: Bool { kind != .success && error?.effect == .unknown }

  /// The outcome for a result document.
  var outcome: HandoffResult.Outcome {
    switch kind {
    case .success: .success(output: output ?? [:])
    case .cancelled: .cancelled(error)
    case .failure:
      .failure(error ?? ResultError(.receiverFailed, "no reason recorded", effect: .unknown))
    }
  }
}
