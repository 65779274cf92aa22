import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import SQLite
import Testing

@Suite("Paused destinations", .timeLimit(.minutes(1)))
struct PauseTests {
  @Test("nothing is claimed there until it is resumed, also over a restart, and others go on")
  func pauses() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let first = try await LedgerFixture.open(directory)
      try await first.add(1, to: [.archive, .social])
      #expect(try await first.ledger.pause(.archive, by: 7))
      #expect(try await !first.ledger.pause(.archive, by: 8))
      #expect(try await first.claim().isEmpty)
      #expect(try await first.claim(.social).count == 1)
      #expect(try await first.ledger.nextDue(destination: .archive) == nil)
      try await first.ledger.close()

      let second = try await LedgerFixture.open(directory, time: first.time)
      // Only a stop by the receiver is lifted by another address.
      #expect(try await second.ledger.liftStops(addresses: [:]).isEmpty)
      #expect(try await second.claim().isEmpty)
      let pause = try #require(try await second.ledger.pauses().first)
      #expect(pause.destination == .archive)
      #expect(pause.pausedBy == 7)
      #expect(try await second.ledger.resume(.archive, by: 9))
      #expect(try await !second.ledger.resume(.archive, by: 9))
      #expect(try await second.claim().count == 1)
      let events = try second.events("event IN ('paused', 'resumed')")
      #expect(events == ["paused uid 7", "resumed uid 9"])
      try await second.ledger.close()
    }
  }

  @Test("what was claimed before is given back at its submission; what was sent goes on")
  func wins() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.submitted(1)
      try await fixture.add(2, to: [.archive])
      let claimed = try #require(try await fixture.claim().first)
      _ = try await fixture.ledger.pause(.archive, by: nil)
      let id = claimed.handoff.id
      #expect(try await !fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID))
      #expect(try await fixture.handoff(id).status == .pending)
      #expect(try await fixture.handoff(id).submittedAt == nil)
      _ = try await fixture.answer(sent, .success(output: [:]))
      #expect(try await fixture.handoff(sent.handoff.id).status == .succeeded)
      _ = try await fixture.ledger.resume(.archive)
      #expect(try await fixture.claim().first?.handoff.id == id)
    }
  }

  @Test("a pause at the same moment as claims: after its return nothing is submitted")
  func race() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...40 { try await fixture.add(number, to: [.archive]) }
      let ledger = fixture.ledger
      let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          _ = try await ledger.pause(.archive, by: nil)
          return false
        }
        for _ in 0..<20 {
          group.addTask {
            let claimed = try await fixture.claim(limit: 2)
            for claim in claimed {
              // Whatever was claimed before, from now on no submission may pass.
              _ = try await ledger.pause(.archive, by: nil)
              let id = claim.handoff.id
              if try await ledger.recordSubmission(id, leaseID: claim.leaseID) { return true }
            }
            return false
          }
        }
        return try await group.reduce(into: true) { $0 = $0 && !$1 }
      }
      #expect(refused)
      #expect(try await ledger.counts().handoffs == [.pending: 40])
    }
  }
}
