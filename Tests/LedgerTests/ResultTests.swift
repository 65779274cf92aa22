import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import SQLite
import Testing

@Suite("Consuming results", .timeLimit(.minutes(3)))
struct ResultTests {
  @Test("Of two results at one instant exactly one wins, a thousand times")
  func races() async throws {
    try await LedgerFixture.with { fixture in
      let count = 1000
      for number in 1...count { try await fixture.add(number, to: [.archive]) }
      let claimed = try await fixture.claim(limit: count)
      #expect(claimed.count == count)
      let wins = try await withThrowingTaskGroup(of: (Handoff.ID, Bool).self) { group in
        for claim in claimed {
          try await fixture.ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
          let outcomes: [HandoffResult.Outcome] = [
            .success(output: [:]), .failure(ResultError(.auth, "no", effect: .none)),
          ]
          for outcome in outcomes.shuffled() {
            group.addTask {
              (claim.handoff.id, try await fixture.answer(claim, outcome).name == "applied")
            }
          }
        }
        return try await group.reduce(into: [Handoff.ID: Int]()) {
          $0[$1.0, default: 0] += $1.1 ? 1 : 0
        }
      }
      #expect(wins.count == count)
      #expect(wins.values.allSatisfy { $0 == 1 })
      let counts = try await fixture.ledger.counts().handoffs
      #expect(counts[.succeeded, default: 0] + counts[.failed, default: 0] == count)
      guard case .intact = try await fixture.ledger.verifyChain() else {
        Issue.record("the chain is broken")
        return
      }
    }
  }

  @Test("A token that was used is refused, also after a restart, and nothing changes")
  func usedAgain() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let first = try await LedgerFixture.open(directory)
      let claimed = try await first.submitted()
      _ = try await first.answer(claimed, .success(output: ["id": .integer(1)]))
      let before = try await first.handoff(claimed.handoff.id)
      let repeated = try await first.answer(claimed, .failure(.crashed))
      #expect(repeated.name == "alreadyConsumed")
      try await first.ledger.close()
      let second = try await LedgerFixture.open(directory, time: first.time)
      #expect(
        try await second.answer(claimed, .cancelled(nil)).name == "alreadyConsumed"
      )
      let after = try await second.handoff(claimed.handoff.id)
      #expect(after.output == before.output)
      #expect(after.status == .succeeded)
      #expect(after.lateResults == 0)
      let kinds = try await second.ledger.history(of: claimed.handoff.id).map(\.kind)
      #expect(kinds.filter { $0 == "result_refused" }.count == 2)
      try await second.ledger.close()
    }
  }

  @Test("A result from another destination, or with a made-up token, changes nothing")
  func foreign() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      let id = claimed.handoff.id
      let success = HandoffResult.Outcome.success(output: [:])
      #expect(
        try await fixture.answer(claimed, success, from: .social).name == "wrongDestination"
      )
      let code = String(repeating: "A", count: 43)
      let text = claimed.request.state.revealed
      for forged in [
        "\(id.row).\(code)", "999.\(code)", "x", "0.\(code)", "-1.\(code)", text + "A",
        String(text.dropLast()), "99999999999999999999.\(code)",
      ] {
        let result = HandoffResult(state: try #require(StateToken(forged)), outcome: success)
        let consumption = try await fixture.ledger.consume(
          result,
          from: .archive,
          retry: .hour,
          jitter: 0
        )
        #expect(consumption.name == "unknownState", "\(forged.count) characters")
      }
      #expect(try await fixture.handoff(id).status == .submitted)
      #expect(try await fixture.answer(claimed, success).name == "applied")
    }
  }

  @Test("A result after the sender's expiry is late, also where nobody has looked yet")
  func expiry() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      var order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [identifier],
        isAutomatic: false
      )
      order.expiresAt = fixture.time.now.advanced(by: .seconds(5))
      _ = try await fixture.ledger.create(order)
      let claimed = try #require(try await fixture.claim().first)
      #expect(claimed.request.expiresAt == order.expiresAt)
      try await fixture.ledger.recordSubmission(claimed.handoff.id, leaseID: claimed.leaseID)
      fixture.time.advance(.seconds(5))
      #expect(try await fixture.answer(claimed, .success(output: [:])).name == "late")
      let handoff = try await fixture.handoff(claimed.handoff.id)
      #expect(handoff.status == .expired)
      #expect(handoff.lateResults == 1)
      #expect(try await fixture.ledger.expireDue().isEmpty)
    }
  }

  @Test("An attempt that was answered with a failure takes no second answer")
  func answeredTwice() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      #expect(try await fixture.answer(claimed, .failure(.busy)).name == "retried")
      #expect(
        try await fixture.answer(claimed, .success(output: [:])).name == "alreadyConsumed"
      )
      #expect(try await fixture.handoff(claimed.handoff.id).status == .pending)
    }
  }

  @Test("Every result that came is in the view, with what became of it")
  func view() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      _ = try await fixture.answer(claimed, .success(output: [:]), from: .social)
      _ = try await fixture.answer(claimed, .failure(.busy))
      fixture.time.advance(.seconds(60))
      let again = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(again.handoff.id, leaseID: again.leaseID)
      _ = try await fixture.answer(again, .cancelled(nil))
      _ = try await fixture.answer(again, .success(output: [:]))
      let connection = try Connection(fixture.database, .read, busyTimeout: .seconds(5))
      let verdicts = try connection.rows(
        SQL("SELECT handoff_id, destination, status, received_at, verdict FROM results")
      ) { row in
        #expect(try row.text(0) == claimed.handoff.id.description)
        #expect(try row.text(2) == "cancelled")
        return try row.text(4)
      }
      #expect(verdicts == ["wrong_destination", "retried", "applied", "already_consumed"])
      try connection.close()
    }
  }
}
