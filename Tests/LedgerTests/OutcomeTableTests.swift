import HandoffCore
import HandoffProtocol
import Ledger
import Testing

/// What each result does in each status: nothing here is left to chance.
@Suite("Results in every status", .timeLimit(.minutes(2)))
struct OutcomeTableTests {
  enum Answer: CaseIterable {
    case success
    case cancelled
    case failedLater
    case failedForGood
    case refused
    case applied
    case unknown

    var outcome: HandoffResult.Outcome {
      switch self {
      case .success: .success(output: ["id": .integer(7)])
      case .cancelled: .cancelled(nil)
      case .failedLater: .failure(.busy)
      case .failedForGood: .failure(ResultError(.auth, "no", effect: .none))
      case .refused: .failure(ResultError(.unsupportedMedia, "no", effect: .none))
      case .applied: .failure(ResultError(.network, "half", effect: .applied))
      case .unknown: .failure(.crashed)
      }
    }
  }

  @Test(
    "a receiver's word decides what is with it, once",
    arguments: [HandoffStatus.submitted, .accepted, .needsUser, .outcomeUnknown],
    Answer.allCases
  )
  func open(_ status: HandoffStatus, _ answer: Answer) async throws {
    let expected: (String, HandoffStatus) =
      switch answer {
      case .success: ("applied", .succeeded)
      case .cancelled: ("applied", .cancelled)
      case .failedLater: ("retried", .pending)
      case .failedForGood, .applied: ("applied", .failed)
      // What a person was asked about, or nobody knew, was taken once: it is not refused any more.
      case .refused:
        ("applied", [.submitted, .accepted].contains(status) ? .refused : .failed)
      case .unknown: ("applied", .outcomeUnknown)
      }
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      #expect(try await fixture.answer(sent, answer.outcome).name == expected.0)
      let after = try await fixture.handoff(sent.handoff.id)
      #expect(after.status == expected.1)
      #expect(after.lateResults == 0)
      #expect(after.userNeed == nil)
      guard after.status.isFinal else { return }
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "alreadyConsumed")
      #expect(try await fixture.handoff(sent.handoff.id).status == expected.1)
    }
  }

  @Test(
    "what is with nobody, or has had its word, takes none",
    arguments: [HandoffStatus.pending, .leased, .succeeded, .refused],
    Answer.allCases
  )
  func consumed(_ status: HandoffStatus, _ answer: Answer) async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      let before = try await fixture.handoff(sent.handoff.id)
      #expect(try await fixture.answer(sent, answer.outcome).name == "alreadyConsumed")
      let after = try await fixture.handoff(sent.handoff.id)
      #expect(after.status == status)
      #expect(after.output == before.output)
      #expect(after.lateResults == 0)
    }
  }

  @Test(
    "what ended without its receiver's word keeps it as late, and changes nothing",
    arguments: [HandoffStatus.cancelled, .failed, .expired],
    Answer.allCases
  )
  func late(_ status: HandoffStatus, _ answer: Answer) async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      let id = sent.handoff.id
      fixture.time.advance(.seconds(60))
      #expect(try await fixture.answer(sent, answer.outcome).name == "late")
      let after = try await fixture.handoff(id)
      #expect(after.status == status)
      #expect(after.output.isEmpty)
      #expect(after.lateResults == 1)
      let late = try await fixture.ledger.lateResults(of: id)
      #expect(late.map(\.at) == [fixture.time.now])
      #expect(late.first?.kind == (answer == .success ? "success" : after.kind(of: answer)))
      let waiting = try await fixture.ledger.unadoptedSuccesses(limit: 10)
      #expect(waiting.map(\.id) == (answer == .success ? [id] : []))
      // Nothing follows from it: there is no further attempt.
      #expect(try await fixture.claim().isEmpty)
      // It may have happened, so the pair is handed off once more only on purpose.
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: after.localIdentifiers,
        isAutomatic: false
      )
      await #expect(throws: LedgerError.alreadySucceeded(id, status)) {
        try await fixture.ledger.create(order)
      }
    }
  }

  @Test(
    "an operator adopts what is in doubt, and what ended where a success came late",
    arguments: HandoffStatus.allCases
  )
  func adoption(_ status: HandoffStatus) async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      let id = sent.handoff.id
      let refusal = LedgerError.illegal(id, IllegalTransition(status, .adopt))
      switch status {
      case .outcomeUnknown, .needsUser: break
      case .cancelled, .failed, .expired:
        await #expect(throws: refusal) { try await fixture.ledger.adopt(id) }
        _ = try await fixture.answer(sent, .failure(.busy))
        await #expect(throws: refusal) { try await fixture.ledger.adopt(id) }
        _ = try await fixture.answer(sent, .success(output: ["id": .integer(7)]))
      case .pending, .leased, .submitted, .accepted, .succeeded, .refused:
        await #expect(throws: refusal) { try await fixture.ledger.adopt(id) }
        return
      }
      let adopted = try await fixture.ledger.adopt(id)
      #expect(adopted.status == .succeeded)
      #expect(adopted.error == nil)
      #expect(adopted.output == (status.isFinal ? ["id": .integer(7)] : [:]))
      #expect(try await fixture.ledger.unadoptedSuccesses(limit: 10).isEmpty)
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "alreadyConsumed")
      await #expect(throws: LedgerError.illegal(id, IllegalTransition(.succeeded, .adopt))) {
        try await fixture.ledger.adopt(id)
      }
    }
  }
}

extension Handoff {
  fileprivate func kind(of answer: OutcomeTableTests.Answer) -> String {
    answer == .cancelled ? "cancelled" : "failure"
  }
}
