import HandoffProtocol

/// What a receiver, or the broker for it, says of one attempt.
struct ModelAnswer {
  /// `success`, `cancelled` or `failure`.
  let kind: String
  let effect: Effect
  let retry: RetryAdvice
  /// The error says no to the request itself.
  let isRefusal: Bool

  var outcome: HandoffResult.Outcome {
    switch kind {
    case "success": .success(output: [:])
    case "cancelled": .cancelled(nil)
    default: .failure(error)
    }
  }

  var error: ResultError {
    ResultError(isRefusal ? .unsupportedMedia : .network, "so", effect: effect, retry: retry)
  }
}

extension ModelHandoff {
  /// A result with this handoff's token.
  mutating func take(
    _ answer: ModelAnswer,
    from origin: DestinationName,
    repeats: Bool,
    at now: Int64
  ) -> String {
    guard origin == destination else { return "wrongDestination" }
    if !isFinal, isOverdue(at: now) { expire() }
    if isFinal {
      if isConsumed { return "alreadyConsumed" }
      lateResults += 1
      if answer.kind == "success" { hasLateSuccess = true }
      return "late"
    }
    if isUnsent { return "alreadyConsumed" }
    switch answer.kind {
    case "success":
      earlier = nil
      end("succeeded", "success", error: nil, consuming: true)
      return "applied"
    case "cancelled":
      earlier = nil
      end("cancelled", "cancelled", error: nil, consuming: true)
      return "applied"
    default: return fail(answer, canRetry: true, repeats: repeats, isAnswer: true, at: now)
    }
  }

  /// A failure that the broker found itself.
  mutating func breakDown(
    _ answer: ModelAnswer,
    canRetry: Bool,
    attempt: Int?,
    at now: Int64
  ) -> String {
    if isFinal { return "alreadyConsumed" }
    if let attempt, attempt != attempts || isUnsent { return "pastAttempt" }
    // Before anything was sent nothing can have happened; and what no attempt has claimed has none.
    if isUnsent, answer.effect != .none { return "illegal" }
    if status == "pending", canRetry, answer.retry == .later, hasTime(at: now) { return "illegal" }
    return fail(answer, canRetry: canRetry, repeats: false, isAnswer: false, at: now)
  }

  private func hasTime(at now: Int64) -> Bool { now - (firstAttempt ?? now) < 3_600_000 }

  private mutating func fail(
    _ answer: ModelAnswer,
    canRetry: Bool,
    repeats: Bool,
    isAnswer: Bool,
    at now: Int64
  ) -> String {
    failures += 1
    let isAnother = canRetry && answer.retry == .later && hasTime(at: now)
    let mayRepeat = repeats && (status == "submitted" || status == "accepted")
    if isAnother, answer.effect == .none || (answer.effect == .unknown && mayRepeat) {
      if isWished {
        end("cancelled", "cancelled", error: answer.effect.rawValue, consuming: isAnswer)
        return "applied"
      }
      if answer.effect == .unknown { earlier = "unknown" }
      let pause = min(Int64(2_000) << Int64(min(failures - 1, 20)), 60_000)
      effect = answer.effect.rawValue
      comeBack(at: now)
      wait("backoff", until: now + pause, at: now)
      ceilingAt = nil
      return "retried"
    }
    var worst = answer.effect.rawValue
    if worst == "none", let earlier, !isUnsent { worst = earlier }
    if worst == "unknown" {
      enter("outcome_unknown")
      show(answer.effect.rawValue)
      return "applied"
    }
    let isDoubt = status == "outcome_unknown" || status == "needs_user"
    let isRefused =
      answer.isRefusal && answer.effect == .none && answer.retry != .later
      && !isDoubt && earlier == nil
    end(
      isRefused ? "refused" : "failed",
      "failure",
      error: answer.effect.rawValue,
      consuming: isAnswer
    )
    return "applied"
  }

  /// What a receiver says that it knows.
  mutating func learn(_ standing: HandoffKnowledge.Standing, _ need: String?, at now: Int64) {
    guard isHeld || status == "outcome_unknown" else { return }
    switch standing {
    case .working: if status != "accepted" { enter("accepted") }
    case .unknown: if status != "outcome_unknown" { enter("outcome_unknown") }
    case .finished: break
    case .needsUser:
      if status != "needs_user" || self.need != need {
        enter("needs_user")
        self.need = need
      }
    case .notReceived:
      earlier = nil
      if isWished {
        end("cancelled", "cancelled", error: nil, consuming: false)
      } else {
        if effect != nil { effect = "none" }
        comeBack(at: now)
        ceilingAt = nil
      }
    }
  }

  /// A person wishes its end; `canAsk` where its receiver can be told.
  mutating func cancel(canAsk: Bool) -> String {
    if isFinal { return "hasEnded" }
    if isUnsent {
      let shown = effect ?? (earlier == nil ? nil : "none")
      end("cancelled", "cancelled", error: shown, consuming: false)
    } else if canAsk {
      isWished = true
    } else {
      end("cancelled", "cancelled", error: "unknown", consuming: false)
    }
    return "done"
  }

  mutating func adopt() -> String {
    let canBe =
      isFinal
      ? hasLateSuccess && status != "succeeded" && status != "refused"
      : status == "outcome_unknown" || status == "needs_user"
    guard canBe else { return "illegal" }
    end("succeeded", "success", error: nil, consuming: true)
    return "done"
  }

  mutating func retry(at now: Int64) -> String {
    switch status {
    case "outcome_unknown", "needs_user": earlier = "unknown"
    case "failed": if let effect, effect != "none" { earlier = effect }
    default: return "illegal"
    }
    result = nil
    isConsumed = false
    ceilingAt = nil
    failures = 0
    firstAttempt = nil
    isWished = false
    comeBack(at: now)
    if let publishAt, publishAt > now { wait("publish_at", until: publishAt, at: now) }
    return "done"
  }
}
