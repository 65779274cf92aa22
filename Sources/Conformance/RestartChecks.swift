import Glibc
import HandoffProtocol
import LinuxSystem

/// Plugins that are killed, and started again on the same work folder.
struct RestartChecks: Sendable {
  let stage: CheckStage

  private static let journal =
    "Write down durably, in HANDOFF_WORK, that a handoff was begun before you do anything that cannot be "
    + "taken back, and how it ended before you send its result; answer `reconcile` and `probe` from there."

  func run() async throws {
    if stage.wants([.killedAtWork]) { try await killedAtWork() }
    if stage.wants([.killedAfterResult]) { try await killedAfterResult() }
    if stage.wants([.replay]) { try await replay() }
  }

  // MARK: In the middle of the work

  private func killedAtWork() async throws {
    let trial = try stage.trial()
    let desk = BrokerDesk()
    desk.setResolving(.held)
    let request = try trial.request(grantedBy: desk)
    let killed = try await trial.live(desk) { life -> Bool in
      let begun: Void? = try await stage.ledger.attempt(.killedAtWork, life) {
        try needsMemory()
        try await life.submitTaken(request)
        try await life.awaitResolve(request)
      }
      life.process.signalGroup(SIGKILL)
      return begun != nil
    }
    guard killed else { return }
    let second = BrokerDesk()
    second.grant(request.videos, to: request.token)
    try await trial.live(second) { life in
      _ = try await stage.ledger.check(.killedAtWork, life) {
        try await judgeInterrupted(request, life)
      }
    }
  }

  private func judgeInterrupted(_ request: TrialRequest, _ life: PluginLife) async throws {
    let knowledge = try await knowledge(of: request, life)
    switch knowledge.standing {
    case .unknown, .needsUser:
      return
    case .finished:
      guard case .success = knowledge.result?.outcome else { return }
      throw Finding(
        "it claims a success, though it was killed before it had the asset",
        mend: Self.journal
      )
    case .notReceived:
      try await life.submitTaken(request)
      try await life.succeeds(request)
    case .working:
      do {
        _ = try await life.outcome(of: request)
      } catch let finding as Finding {
        throw Finding(
          "its standing was working, and then: \(finding.got)",
          mend: "Answer \"working\" only for a handoff that you have taken up again. "
            + Self.journal
        )
      }
    }
  }

  // MARK: After the result, before the broker has answered it

  private func killedAfterResult() async throws {
    let trial = try stage.trial()
    let desk = BrokerDesk()
    desk.holdResults()
    let request = try trial.request(grantedBy: desk)
    let first = try await trial.live(desk) { life -> HandoffResult.Outcome? in
      let outcome = try await stage.ledger.attempt(.killedAfterResult, life) {
        try needsMemory()
        try await life.submitTaken(request)
        return try await life.outcome(of: request)
      }
      life.process.signalGroup(SIGKILL)
      return outcome
    }
    guard let first else { return }
    let second = BrokerDesk()
    second.grant(request.videos, to: request.token)
    try await trial.live(second) { life in
      _ = try await stage.ledger.check(.killedAfterResult, life) {
        try await judgeEnded(request, first, life)
      }
    }
  }

  private func judgeEnded(
    _ request: TrialRequest,
    _ first: HandoffResult.Outcome,
    _ life: PluginLife
  ) async throws {
    let knowledge = try await knowledge(of: request, life)
    switch knowledge.standing {
    case .unknown:
      return
    case .notReceived, .needsUser:
      throw Finding(
        "it says \(knowledge.standing.rawValue) of a handoff that it has done, so it would be done twice",
        mend: Self.journal
      )
    case .finished:
      guard knowledge.result?.outcome == first else {
        throw Finding("its result is another than the one that it sent", mend: Self.journal)
      }
    case .working:
      let again = try await life.outcome(of: request)
      guard life.desk.resolveCount(request.token) == 0, again == first else {
        throw Finding("it did the handoff a second time", mend: Self.journal)
      }
    }
  }

  // MARK: The same request once more

  private func replay() async throws {
    let trial = try stage.trial()
    let desk = BrokerDesk()
    let request = try trial.request(grantedBy: desk)
    let first = try await trial.live(desk) { life in
      try await stage.ledger.attempt(.replay, life) { () -> HandoffResult.Outcome in
        try await life.submitTaken(request)
        let outcome = try await life.outcome(of: request)
        // The plugin has had its answer when this one comes.
        try await life.checkAlive(after: "a result", mend: "Read on after the broker's answers.")
        return outcome
      }
    }
    guard let first else { return }
    let second = BrokerDesk()
    second.grant(request.videos, to: request.token)
    try await trial.live(second) { life in
      _ = try await stage.ledger.check(.replay, life) {
        try await life.submitTaken(request)
        let outcome = try await life.outcome(of: request)
        guard life.desk.resolveCount(request.token) == 0 else {
          throw Finding("it did the handoff a second time", mend: Self.journal)
        }
        guard outcome == first else {
          throw Finding("its result is another than the first", mend: Self.journal)
        }
      }
    }
  }

  // MARK: Asking

  private func needsMemory() throws {
    if stage.profile.capabilities.contains(MessageMethod.reconcile.rawValue) { return }
    try stage.needs(.probe)
  }

  private func knowledge(
    of request: TrialRequest,
    _ life: PluginLife
  ) async throws -> HandoffKnowledge {
    guard stage.profile.capabilities.contains(MessageMethod.reconcile.rawValue) else {
      return try await life.ask(.probe, request.reference)
    }
    let answer = try await life.ask(
      .reconcile,
      .object(["handoffs": .array([request.parameters])]),
      ReconcileAnswer.self
    )
    guard let found = answer.handoffs.first(where: { $0.handoffID == request.id }) else {
      throw Finding(
        "`reconcile` was answered without the handoff that it asked about",
        mend: "Answer one element for each handoff of the question, with its `handoff_id`."
      )
    }
    return found
  }
}
