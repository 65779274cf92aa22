import HandoffCore
import HandoffProtocol
import Ledger
import Testing

/// Steps about one handoff.
extension LedgerWalk {
  func act(on id: Int64) async throws -> WalkStep {
    guard let handoff = model[id] else { return ("none", 0, "", "") }
    // Mostly what fits, so that lives come far; else whatever.
    if handoff.status == "leased", chance(60) { return try await submit(id) }
    switch below(100) {
    case 0..<6: return try await submit(id)
    case 6..<12: return try await release(id)
    case 12..<22: return try await accept(id)
    case 22..<46: return try await answer(id)
    case 46..<56: return try await breakDown(id)
    case 56..<68: return try await learn(id)
    case 68..<74: return try await cancel(id)
    case 74..<78: return try await loseReceiver(id)
    case 78..<84: return try await adopt(id)
    case 84..<92: return try await retry(id)
    default: return try await wait(id)
    }
  }

  /// What a call says: its word, or the name of what it throws.
  private func says(_ work: () async throws -> String) async throws -> String {
    do {
      return try await work()
    } catch let error as LedgerError {
      return Self.name(error)
    }
  }

  private func submit(_ id: Int64) async throws -> WalkStep {
    guard let claim = try await ledger.sent(Handoff.ID(row: id)) else {
      return ("submit", id, "a row", "none")
    }
    // A lease that is over has another number than the row, and none is held but of a claimed one.
    let lease = model[id]?.lease ?? claim.leaseID
    let ceiling = chance(70) ? now + Int64(below(400_000)) : nil
    let isLeased = model[id]?.status == "leased"
    let actual = try await says {
      try await ledger.recordSubmission(
        claim.handoff.id,
        leaseID: lease,
        ceiling: ceiling.map(Timestamp.init(milliseconds:))
      )
      return "done"
    }
    if isLeased {
      model[id]?.enter("submitted")
      model[id]?.wasSubmitted = true
      model[id]?.ceilingAt = ceiling
    }
    return ("submit", id, isLeased ? "done" : "leaseLost", actual)
  }

  private func release(_ id: Int64) async throws -> WalkStep {
    guard let claim = try await ledger.sent(Handoff.ID(row: id)) else {
      return ("release", id, "a row", "none")
    }
    let isLeased = model[id]?.status == "leased"
    let waiting = anyWaiting()
    let actual = try await says {
      try await ledger.release(claim.handoff.id, leaseID: claim.leaseID, waiting: waiting)
      return "done"
    }
    if isLeased {
      let until = waiting?.until?.milliseconds
      model[id]?.comeBackUnsent(waiting?.reason.rawValue, until: until, at: now)
    }
    return ("release", id, isLeased ? "done" : "leaseLost", actual)
  }

  private func anyWaiting() -> Handoff.Waiting? {
    switch below(4) {
    case 0: return .init(.paused)
    case 1: return .init(.quota, until: Timestamp(milliseconds: now + Int64(below(60_000))))
    default: return nil
    }
  }

  private func wait(_ id: Int64) async throws -> WalkStep {
    let waiting = anyWaiting()
    let isPending = model[id]?.status == "pending"
    let until = waiting?.until?.milliseconds
    if isPending { model[id]?.wait(waiting?.reason.rawValue, until: until, at: now) }
    let was = try await ledger.setWaiting(Handoff.ID(row: id), waiting)
    return ("wait", id, "\(isPending)", "\(was)")
  }

  private func accept(_ id: Int64) async throws -> WalkStep {
    let attempt = anyAttempt(of: id)
    var holds = false
    if let handoff = model[id], attempt == nil || attempt == handoff.attempts, !handoff.isUnsent {
      if handoff.status == "submitted" { model[id]?.enter("accepted") }
      holds = handoff.isHeld
    }
    let says = try await ledger.recordAcceptance(Handoff.ID(row: id), attempt: attempt)
    return ("accept", id, "\(holds)", "\(says)")
  }

  /// The present one, the one before, or none named.
  private func anyAttempt(of id: Int64) -> Int? {
    guard let attempts = model[id]?.attempts, chance(60) else { return nil }
    return chance(70) ? attempts : max(0, attempts - 1)
  }

  private func anyAnswer() -> ModelAnswer {
    ModelAnswer(
      kind: any(["success", "success", "cancelled", "failure", "failure", "failure", "failure"]),
      effect: any([.none, .none, .applied, .unknown]),
      retry: any([.never, .later, .later, .afterFix]),
      isRefusal: chance(30)
    )
  }

  /// A result with the handoff's token, or with one that is nobody's, over whichever channel.
  private func answer(_ id: Int64) async throws -> WalkStep {
    guard let handoff = model[id] else { return ("answer", id, "", "") }
    let answer = anyAnswer()
    let origin = chance(92) ? handoff.destination : anyDestination
    let isForged = chance(4)
    let repeats = handoff.destination == .social
    var policy = RetryPolicy.hour
    policy.repeatsUnknown = repeats
    let token = isForged ? StateToken(handoff.token.revealed + "x") : handoff.token
    let times = chance(10) ? 2 : 1
    var expected: [String] = []
    var actual: [String] = []
    for _ in 0..<times {
      expected.append(
        isForged
          ? "unknownState"
          : model[id]?.take(answer, from: origin, repeats: repeats, at: now) ?? ""
      )
      let result = HandoffResult(state: try #require(token), outcome: answer.outcome)
      brought += 1
      actual.append(
        try await ledger.consume(result, from: origin, retry: policy, jitter: 1).name
      )
    }
    return ("answer \(answer)", id, "\(expected)", "\(actual)")
  }

  private func breakDown(_ id: Int64) async throws -> WalkStep {
    var answer = anyAnswer()
    answer = ModelAnswer(
      kind: "failure",
      effect: answer.effect,
      retry: answer.retry,
      isRefusal: answer.isRefusal
    )
    let attempt = anyAttempt(of: id)
    let canRetry = chance(70)
    let expected = model[id]?.breakDown(answer, canRetry: canRetry, attempt: attempt, at: now)
    let actual = try await says {
      try await ledger.recordBrokerFailure(
        Handoff.ID(row: id),
        answer.error,
        retry: canRetry ? .hour : nil,
        jitter: 1,
        attempt: attempt
      ).name
    }
    return ("break down \(answer) of \(attempt ?? -1)", id, expected ?? "", actual)
  }

  private func learn(_ id: Int64) async throws -> WalkStep {
    let standing = any([
      HandoffKnowledge.Standing.notReceived, .working, .needsUser, .unknown, .finished,
    ])
    let need = standing == .needsUser ? any(["log in", "choose"]) : nil
    model[id]?.learn(standing, need, at: now)
    let handoff = try await ledger.recordKnowledge(Handoff.ID(row: id), standing, need: need)
    return ("learn \(standing)", id, model[id]?.status ?? "", handoff.status.rawValue)
  }

  private func cancel(_ id: Int64) async throws -> WalkStep {
    let canAsk = chance(60)
    let expected = model[id]?.cancel(canAsk: canAsk)
    let actual = try await says {
      _ = try await ledger.cancel(Handoff.ID(row: id)) { _ in canAsk ? .receiver : .nobody }
      return "done"
    }
    return ("cancel", id, expected ?? "", actual)
  }

  /// Whoever was to be told of a wish to cancel cannot be; or a person has done there what was to be done.
  private func loseReceiver(_ id: Int64) async throws -> WalkStep {
    if chance(50) {
      if model[id]?.status == "needs_user" { model[id]?.enter("accepted") }
      let handoff = try await ledger.recordUserDone(Handoff.ID(row: id))
      return ("user done", id, model[id]?.status ?? "", handoff.status.rawValue)
    }
    if let handoff = model[id], handoff.isWished {
      model[id]?.end("cancelled", "cancelled", error: "unknown", consuming: false)
    }
    let handoff = try await ledger.recordUncertainCancel(Handoff.ID(row: id))
    return ("lose receiver", id, model[id]?.status ?? "", handoff.status.rawValue)
  }

  private func adopt(_ id: Int64) async throws -> WalkStep {
    let expected = model[id]?.adopt()
    let actual = try await says {
      _ = try await ledger.adopt(Handoff.ID(row: id))
      return "done"
    }
    return ("adopt", id, expected ?? "", actual)
  }

  private func retry(_ id: Int64) async throws -> WalkStep {
    let expected = model[id]?.retry(at: now)
    let actual = try await says {
      _ = try await ledger.retry(Handoff.ID(row: id))
      return "done"
    }
    return ("retry", id, expected ?? "", actual)
  }
}
