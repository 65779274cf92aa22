import HandoffCore
import HandoffProtocol
import Ledger
import Testing

/// What earlier attempts may have done is not forgotten for a later one.
@Suite("Doubt over several attempts", .timeLimit(.minutes(2)))
struct DoubtTests {
  private static let refusal = ResultError(.unsupportedMedia, "no", effect: .none)
  private static let never = ResultError(.auth, "no", effect: .none)
  private static let timedOut = ResultError(
    .receiverTimeout,
    "no answer",
    effect: .unknown,
    retry: .later
  )

  private static var idempotent: RetryPolicy {
    var policy = RetryPolicy.hour
    policy.repeatsUnknown = true
    return policy
  }

  /// Sends what is due.
  private func send(
    _ fixture: LedgerFixture,
    ceiling: Timestamp? = nil
  ) async throws -> ClaimedHandoff {
    let claimed = try #require(try await fixture.claim().first)
    try await fixture.ledger.recordSubmission(
      claimed.handoff.id,
      leaseID: claimed.leaseID,
      ceiling: ceiling
    )
    return claimed
  }

  /// One that is pending again after an attempt of which nobody knows anything.
  private func doubtful(_ fixture: LedgerFixture, byPerson: Bool) async throws -> Handoff.ID {
    let id = try await fixture.submitted().handoff.id
    if byPerson {
      _ = try await fixture.ledger.recordBrokerFailure(id, .crashed)
      _ = try await fixture.ledger.retry(id)
    } else {
      let policy = Self.idempotent
      _ = try await fixture.ledger.recordBrokerFailure(id, Self.timedOut, retry: policy, jitter: 1)
      fixture.time.advance(.seconds(60))
    }
    try #require(try await fixture.handoff(id).status == .pending)
    return id
  }

  /// The pair is handed off once more only on purpose.
  private func expectStanding(_ id: Handoff.ID, _ fixture: LedgerFixture) async throws {
    let handoff = try await fixture.handoff(id)
    #expect(handoff.error?.effect == .unknown)
    await #expect(throws: LedgerError.alreadySucceeded(id, handoff.status)) {
      try await fixture.ledger.create(order(handoff))
    }
  }

  private func order(_ handoff: Handoff) -> HandoffOrder {
    HandoffOrder(
      destination: .archive,
      localIdentifiers: handoff.localIdentifiers,
      isAutomatic: false
    )
  }

  @Test("an attempt that is with its receiver expires with effect unknown, whatever came before it")
  func expiresInFlight() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.submitted()
      #expect(try await fixture.answer(first, .failure(.busy)).name == "retried")
      fixture.time.advance(.seconds(60))
      let id = try await send(fixture, ceiling: fixture.time.now.advanced(by: .seconds(5)))
        .handoff.id
      try await fixture.ledger.recordAcceptance(id)
      fixture.time.advance(.seconds(5))
      #expect(try await fixture.ledger.expireDue().map(\.status) == [.expired])
      try await expectStanding(id, fixture)
    }
  }

  @Test("what is pending after an unknown end expires with effect unknown")
  func expiresPending() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      var order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [identifier],
        isAutomatic: false
      )
      order.expiresAt = fixture.time.now.advanced(by: .seconds(90))
      let id = try await fixture.ledger.create(order).handoff.id
      _ = try await send(fixture)
      _ = try await fixture.ledger.recordBrokerFailure(id, .crashed)
      _ = try await fixture.ledger.retry(id)
      fixture.time.advance(.seconds(90))
      #expect(try await fixture.ledger.expireDue().map(\.status) == [.expired])
      try await expectStanding(id, fixture)
    }
  }

  @Test(
    "a later attempt that does nothing leaves the doubt",
    arguments: [true, false],
    [true, false]
  )
  func laterNone(byPerson: Bool, isRefused: Bool) async throws {
    try await LedgerFixture.with { fixture in
      let id = try await doubtful(fixture, byPerson: byPerson)
      let again = try await send(fixture)
      let error = isRefused ? Self.refusal : Self.never
      #expect(try await fixture.answer(again, .failure(error)).name == "applied")
      let handoff = try await fixture.handoff(id)
      #expect(handoff.status == .outcomeUnknown)
      #expect(handoff.error?.code == error.code)
      try await expectStanding(id, fixture)
      // A success of the first attempt still counts.
      #expect(try await fixture.answer(again, .success(output: [:])).name == "applied")
      #expect(try await fixture.handoff(id).error == nil)
    }
  }

  @Test("attempts without effect until the time is over do not end it as if nothing had happened")
  func laterNones() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await doubtful(fixture, byPerson: false)
      var policy = Self.idempotent
      let second = try await send(fixture)
      #expect(try await fixture.answer(second, .failure(.busy), retry: policy).name == "retried")
      #expect(try await fixture.handoff(id).error?.effect == .unknown)
      fixture.time.advance(.seconds(60))
      policy.limit = .zero
      let third = try await send(fixture)
      #expect(try await fixture.answer(third, .failure(.busy), retry: policy).name == "applied")
      #expect(try await fixture.handoff(id).status == .outcomeUnknown)
      try await expectStanding(id, fixture)
    }
  }

  @Test("a check that refuses the next attempt, or a person who cancels it, leaves the doubt")
  func unsent() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await doubtful(fixture, byPerson: true)
      _ = try await fixture.claim()
      _ = try await fixture.ledger.recordBrokerFailure(id, Self.refusal, side: .sender)
      #expect(try await fixture.handoff(id).status == .failed)
      try await expectStanding(id, fixture)
    }
    try await LedgerFixture.with { fixture in
      // Nothing but the receiver's own "I do not know", without an error.
      let id = try await fixture.submitted().handoff.id
      _ = try await fixture.ledger.recordKnowledge(id, .unknown)
      _ = try await fixture.ledger.retry(id)
      #expect(try await fixture.ledger.cancel(id).status == .cancelled)
      try await expectStanding(id, fixture)
    }
  }

  @Test("a receiver that never got it, or says that it is cancelled, ends the doubt")
  func cleared() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await doubtful(fixture, byPerson: true)
      _ = try await send(fixture)
      let handoff = try await fixture.ledger.recordKnowledge(id, .notReceived)
      #expect(handoff.status == .pending)
      let third = try await send(fixture)
      #expect(try await fixture.answer(third, .failure(Self.never)).name == "applied")
      let failed = try await fixture.handoff(id)
      #expect(failed.status == .failed)
      #expect(failed.error?.effect == Effect.none)
      #expect(try await fixture.ledger.create(order(failed)).isNew)
    }
    try await LedgerFixture.with { fixture in
      let id = try await doubtful(fixture, byPerson: true)
      #expect(try await fixture.answer(try await send(fixture), .cancelled(nil)).name == "applied")
      let cancelled = try await fixture.handoff(id)
      #expect(cancelled.error == nil)
      #expect(try await fixture.ledger.create(order(cancelled)).isNew)
    }
  }
}
