import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("Attempts and what comes of them", .timeLimit(.minutes(2)))
struct AttemptTests {
  @Test("A receiver that asks for an endless wait gets the longest that there is")
  func endlessWait() async throws {
    try await LedgerFixture.with { fixture in
      var later = ResultError.busy
      later.retryAfter = .max
      let first = try await fixture.submitted(1)
      guard case .retried(_, let at) = try await fixture.answer(first, .failure(later)) else {
        Issue.record("not retried")
        return
      }
      #expect(at == fixture.time.now.advanced(by: .seconds(3600)))
      let second = try await fixture.submitted(2)
      let endless = RetryPolicy(
        limit: .seconds(Int64.max),
        first: .seconds(2),
        maximum: .seconds(60)
      )
      let consumption = try await fixture.answer(second, .failure(later), retry: endless)
      guard case .retried(_, let at) = consumption else {
        Issue.record("\(consumption.name)")
        return
      }
      #expect(at == Timestamp(milliseconds: .max))
    }
  }

  @Test("An acceptance that is recorded after the result changes nothing")
  func lateAcceptance() async throws {
    try await LedgerFixture.with { fixture in
      let lost = try await fixture.submitted(1).handoff.id
      _ = try await fixture.ledger.recordBrokerFailure(lost, .crashed)
      #expect(try await !fixture.ledger.recordAcceptance(lost))
      #expect(try await fixture.handoff(lost).status == .outcomeUnknown)

      let failed = try await fixture.submitted(2)
      _ = try await fixture.answer(failed, .failure(.busy))
      #expect(try await !fixture.ledger.recordAcceptance(failed.handoff.id))
      #expect(try await fixture.handoff(failed.handoff.id).status == .pending)

      let held = try await fixture.submitted(3).handoff.id
      _ = try await fixture.ledger.recordNeedOfUser(held)
      #expect(try await fixture.ledger.recordAcceptance(held))
      #expect(try await fixture.handoff(held).status == .needsUser)

      let taken = try await fixture.submitted(4).handoff.id
      #expect(try await fixture.ledger.recordAcceptance(taken))
      #expect(try await fixture.ledger.recordAcceptance(taken))
      #expect(try await fixture.handoff(taken).status == .accepted)
    }
  }

  @Test("After an answer that broke the protocol no failure brings another attempt")
  func heldAsMalformed() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted(1)
      let id = claimed.handoff.id
      let odd = ResultError(.malformedResult, "no JSON", effect: .unknown)
      _ = try await fixture.ledger.recordBrokerFailure(id, odd, side: .receiver)
      #expect(try await fixture.handoff(id).status == .outcomeUnknown)
      for error in [ResultError.busy, .crashed, ResultError(.quota, "full", effect: .none)] {
        #expect(try await fixture.answer(claimed, .failure(error)).name == "late")
        _ = try await fixture.ledger.recordBrokerFailure(id, .crashed)
        #expect(
          try await fixture.ledger.recordKnowledge(id, .notReceived).status == .outcomeUnknown
        )
        #expect(try await fixture.handoff(id).error?.code == .malformedResult)
      }
      fixture.time.advance(.seconds(7200))
      #expect(try await fixture.claim().isEmpty)
      // What settles it counts.
      #expect(try await fixture.answer(claimed, .success(output: [:])).name == "applied")
      #expect(try await fixture.handoff(id).status == .succeeded)
    }
  }

  @Test("An expired handoff is adopted only where a success came late")
  func adoption() async throws {
    try await LedgerFixture.with { fixture in
      let ceiling = fixture.time.now.advanced(by: .seconds(10))
      let claimed = try await fixture.submitted(1, ceiling: ceiling)
      let id = claimed.handoff.id
      fixture.time.advance(.seconds(10))
      _ = try await fixture.ledger.expireDue()
      let refusal = LedgerError.illegal(id, IllegalTransition(.expired, .adopt))
      await #expect(throws: refusal) { try await fixture.ledger.adopt(id) }
      #expect(try await fixture.answer(claimed, .failure(.crashed)).name == "late")
      await #expect(throws: refusal) { try await fixture.ledger.adopt(id) }
      #expect(try await fixture.handoff(id).status == .expired)
      // A success without output counts too.
      #expect(try await fixture.answer(claimed, .success(output: [:])).name == "late")
      #expect(try await fixture.ledger.adopt(id).status == .succeeded)
    }
  }

  @Test("The time for attempts starts with the first that was not given back")
  func outage() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      let early = try #require(try await fixture.claim().first)
      let until = fixture.time.now.advanced(by: .seconds(5))
      try await fixture.ledger.release(
        early.handoff.id,
        leaseID: early.leaseID,
        waiting: .init(.libraryUnavailable, until: until)
      )
      fixture.time.advance(.seconds(7200))
      _ = try #require(try await fixture.claim().first)
      fixture.time.advance(.seconds(7200))
      _ = try await fixture.ledger.expireDue()
      let claimed = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(claimed.handoff.id, leaseID: claimed.leaseID)
      #expect(try await fixture.answer(claimed, .failure(.busy)).name == "retried")

      // Once one has failed, its time goes on.
      fixture.time.advance(.seconds(60))
      let second = try #require(try await fixture.claim().first)
      try await fixture.ledger.release(second.handoff.id, leaseID: second.leaseID)
      fixture.time.advance(.seconds(3600))
      let third = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(third.handoff.id, leaseID: third.leaseID)
      #expect(try await fixture.answer(third, .failure(.busy)).name == "applied")
      #expect(try await fixture.handoff(third.handoff.id).status == .failed)
    }
  }
}
