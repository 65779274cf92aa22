import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Testing

@Suite("Stopped destinations", .timeLimit(.minutes(1)))
struct StopTests {
  private static let gone = ResultError(.destinationUnavailable, "HTTP 410", effect: .none)
  private static let address = "https://h/1"

  private func stop(_ fixture: LedgerFixture, _ number: Int = 1) async throws -> Handoff {
    let claimed = try await fixture.submitted(number)
    return try await fixture.ledger.stop(
      .archive,
      address: Self.address,
      Self.gone,
      of: claimed.handoff.id
    )
  }

  @Test("the handoff comes back and waits, its attempt did not count, and others are not touched")
  func stops() async throws {
    try await LedgerFixture.with { fixture in
      let other = try await fixture.submitted(9, to: .social)
      let handoff = try await stop(fixture)
      #expect(handoff.status == .pending)
      #expect(handoff.waiting?.reason == .paused)
      #expect(handoff.error?.message == "HTTP 410")
      fixture.time.advance(.seconds(1_000_000))
      #expect(try await fixture.claim().isEmpty)
      let stop = try #require(try await fixture.ledger.stop(of: .archive))
      #expect(stop.address == Self.address)
      #expect(stop.reason == "HTTP 410")
      #expect(try await fixture.ledger.stops() == [stop])
      #expect(try await fixture.ledger.stop(of: .social) == nil)
      #expect(try await fixture.handoff(other.handoff.id).status == .submitted)
    }
  }

  @Test("a person has it go on: what waits is due at once, and has its whole time again")
  func resumes() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await stop(fixture).id
      fixture.time.advance(.seconds(1_000_000))
      #expect(try await fixture.ledger.resume(.archive))
      #expect(try await !fixture.ledger.resume(.archive))
      #expect(try await fixture.ledger.stops().isEmpty)
      let claimed = try #require(try await fixture.claim().first)
      #expect(claimed.handoff.id == id)
      #expect(claimed.request.attempt == 2)
      try await fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID)
      guard case .retried = try await fixture.answer(claimed, .failure(.busy)) else {
        Issue.record("not retried")
        return
      }
    }
  }

  @Test("it stays stopped over a restart, until the address changes or it is not configured")
  func restart() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let first = try await LedgerFixture.open(directory)
      _ = try await stop(first)
      try await first.ledger.close()
      let second = try await LedgerFixture.open(directory, time: first.time)
      #expect(try await second.ledger.liftStops(addresses: [.archive: Self.address]).isEmpty)
      #expect(try await second.ledger.stop(of: .archive) != nil)
      #expect(try await second.claim().isEmpty)
      let moved = try await second.ledger.liftStops(addresses: [.archive: "https://h/2"])
      #expect(moved == [.archive])
      #expect(try await second.claim().count == 1)
      try await second.ledger.close()
    }
  }

  @Test("two that hear it at once are one stop, and one that has ended stays so")
  func twice() async throws {
    try await LedgerFixture.with { fixture in
      let ended = try await fixture.submitted(1)
      let other = try await fixture.submitted(2)
      _ = try await fixture.answer(ended, .success(output: [:]))
      let after = try await fixture.ledger.stop(
        .archive,
        address: Self.address,
        Self.gone,
        of: ended.handoff.id
      )
      #expect(after.status == .succeeded)
      let second = try await fixture.ledger.stop(
        .archive,
        address: Self.address,
        Self.gone,
        of: other.handoff.id
      )
      #expect(second.status == .pending)
      #expect(try await fixture.ledger.stops().count == 1)
    }
  }

  @Test("an uncertain attempt is made again only where the receiver drops what it has had")
  func repeated() async throws {
    try await LedgerFixture.with { fixture in
      let lost = ResultError(.network, "it broke off", effect: .unknown, retry: .later)
      let once = try await fixture.submitted(1)
      _ = try await fixture.answer(once, .failure(lost))
      #expect(try await fixture.handoff(once.handoff.id).status == .outcomeUnknown)

      var policy = RetryPolicy.hour
      policy.repeatsUnknown = true
      let again = try await fixture.submitted(2)
      guard case .retried = try await fixture.answer(again, .failure(lost), retry: policy) else {
        Issue.record("not made again")
        return
      }
      #expect(try await fixture.handoff(again.handoff.id).status == .pending)
      // Once the time is used up, nobody knows what it left behind.
      fixture.time.advance(.seconds(3600))
      let claimed = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(again.handoff.id, leaseID: claimed.leaseID)
      _ = try await fixture.answer(claimed, .failure(lost), retry: policy)
      #expect(try await fixture.handoff(again.handoff.id).status == .outcomeUnknown)
    }
  }
}
