import HandoffCore
import HandoffProtocol
import Ledger
import Testing

/// The end of an attempt that comes after another has begun.
@Suite("Ends of past attempts", .timeLimit(.minutes(1)))
struct PastAttemptTests {
  private static let unavailable = ResultError(
    .destinationUnavailable,
    "HTTP 503",
    effect: .none,
    retry: .later
  )

  /// The first attempt had its answer; the second is with the receiver.
  private func second(_ fixture: LedgerFixture, isAccepted: Bool) async throws -> ClaimedHandoff {
    let first = try await fixture.submitted()
    #expect(try await fixture.answer(first, .failure(.busy)).name == "retried")
    fixture.time.advance(.seconds(60))
    let second = try #require(try await fixture.claim().first)
    try await fixture.ledger.recordSubmission(second.handoff.id, leaseID: second.leaseID)
    if isAccepted { try await fixture.ledger.recordAcceptance(second.handoff.id, attempt: 2) }
    return second
  }

  private func end(
    _ claimed: ClaimedHandoff,
    _ attempt: Int,
    _ outcome: HandoffResult.Outcome,
    _ fixture: LedgerFixture
  ) async throws -> String {
    try await fixture.ledger.consume(
      HandoffResult(state: claimed.request.state, outcome: outcome),
      from: .archive,
      retry: .hour,
      jitter: 1,
      attempt: attempt
    ).name
  }

  @Test(
    "a late failure of the first attempt changes nothing of the second",
    arguments: [false, true]
  )
  func failures(isAccepted: Bool) async throws {
    try await LedgerFixture.with { fixture in
      let second = try await second(fixture, isAccepted: isAccepted)
      let id = second.handoff.id
      let status: HandoffStatus = isAccepted ? .accepted : .submitted
      #expect(try await end(second, 1, .failure(Self.unavailable), fixture) == "pastAttempt")
      #expect(try await end(second, 1, .failure(.crashed), fixture) == "pastAttempt")
      let broken = try await fixture.ledger.recordBrokerFailure(
        id,
        Self.unavailable,
        retry: .hour,
        attempt: 1
      )
      #expect(broken.name == "pastAttempt")
      #expect(try await fixture.ledger.recordAcceptance(id, attempt: 1) == false)
      let stopped = try await fixture.ledger.stop(
        .archive,
        address: "https://h/1",
        Self.unavailable,
        of: id,
        attempt: 1
      )
      #expect(stopped.status == status)
      #expect(try await fixture.handoff(id).attempts == 2)
      // Its own end counts.
      #expect(try await end(second, 2, .failure(Self.unavailable), fixture) == "retried")
    }
  }

  @Test("a late success of the first attempt counts: it has happened")
  func success() async throws {
    try await LedgerFixture.with { fixture in
      let second = try await second(fixture, isAccepted: true)
      #expect(try await end(second, 1, .success(output: [:]), fixture) == "applied")
      #expect(try await fixture.handoff(second.handoff.id).status == .succeeded)
    }
  }

  @Test("an attempt that had its answer and waits for the next is not failed by its own late end")
  func answered() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.submitted()
      let id = first.handoff.id
      #expect(try await fixture.answer(first, .failure(.busy)).name == "retried")
      for error in [Self.unavailable, ResultError(.auth, "no", effect: .none)] {
        let late = try await fixture.ledger.recordBrokerFailure(id, error, attempt: 1)
        #expect(late.name == "pastAttempt")
      }
      #expect(try await fixture.handoff(id).status == .pending)
    }
  }
}
