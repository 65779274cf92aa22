import HandoffCore
import HandoffProtocol
import Ledger
import SQLite
import Testing

/// Whoever holds a token, or guesses, can bring any number of results: they cost no space.
@Suite("Refused results", .timeLimit(.minutes(2)))
struct RefusedResultTests {
  private static let large: HandoffResult.Outcome = .success(
    output: ["text": .string(String(repeating: "x", count: 10_000))]
  )

  private struct Kept: Equatable {
    let verdict: String
    let times: Int64
    let bytes: Int64
  }

  private func kept(_ fixture: LedgerFixture) throws -> [Kept] {
    let connection = try Connection(fixture.database, .read, busyTimeout: .seconds(5))
    let rows = try connection.rows(
      SQL("SELECT verdict, times, ifnull (length(output), 0), last_at, received_at FROM results")
    ) { row in
      #expect(try row.integer(3) >= row.integer(4))
      return Kept(verdict: try row.text(0), times: try row.integer(1), bytes: try row.integer(2))
    }
    try connection.close()
    return rows
  }

  private func refusals(_ id: Handoff.ID, _ fixture: LedgerFixture) async throws -> Int {
    try await fixture.ledger.history(of: id).count { $0.kind == "result_refused" }
  }

  @Test("replays are one record and one event for each kind, with their number and no output")
  func replays() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      #expect(try await fixture.answer(claimed, .success(output: [:])).name == "applied")
      for _ in 1...100 {
        #expect(try await fixture.answer(claimed, Self.large).name == "alreadyConsumed")
        let foreign = try await fixture.answer(claimed, Self.large, from: .social)
        #expect(foreign.name == "wrongDestination")
      }
      #expect(try await fixture.answer(claimed, .failure(.crashed)).name == "alreadyConsumed")
      #expect(
        try kept(fixture) == [
          Kept(verdict: "applied", times: 1, bytes: 0),
          Kept(verdict: "already_consumed", times: 100, bytes: 0),
          Kept(verdict: "wrong_destination", times: 100, bytes: 0),
          Kept(verdict: "already_consumed", times: 1, bytes: 0),
        ]
      )
      #expect(try await refusals(claimed.handoff.id, fixture) == 3)
    }
  }

  @Test("guesses are one record for each destination and hour")
  func guesses() async throws {
    try await LedgerFixture.with { fixture in
      func guess(_ number: Int, _ destination: DestinationName) async throws {
        let text = "\(number)." + String(repeating: "A", count: 43)
        let result = HandoffResult(state: try #require(StateToken(text)), outcome: Self.large)
        let consumption = try await fixture.ledger.consume(
          result,
          from: destination,
          retry: .hour,
          jitter: 0
        )
        #expect(consumption.name == "unknownState")
      }
      for number in 1...100 { try await guess(number, .archive) }
      try await guess(1, .social)
      fixture.time.advance(.seconds(3600))
      try await guess(1, .archive)
      let unknown = { (times: Int64) in Kept(verdict: "unknown_state", times: times, bytes: 0) }
      #expect(try kept(fixture) == [unknown(100), unknown(1), unknown(1)])
    }
  }

  @Test("late results are counted beyond a number, and a first success is kept and adopted")
  func late() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: .expired)
      let id = sent.handoff.id
      for _ in 1...40 { #expect(try await fixture.answer(sent, .failure(.busy)).name == "late") }
      for _ in 1...3 { #expect(try await fixture.answer(sent, Self.large).name == "late") }
      let kept = try kept(fixture)
      #expect(kept.count == 17)
      #expect(kept.map(\.times).reduce(0, +) == 43)
      #expect(try await refusals(id, fixture) == 17)
      #expect(try await fixture.handoff(id).lateResults == 43)
      #expect(try await fixture.ledger.adopt(id).output["text"] != nil)
    }
  }

  @Test("a late result in another version than its request's is no answer, and is not adopted")
  func lateVersion() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      let sent = try #require(try await fixture.claim().first)
      let id = sent.handoff.id
      try await fixture.ledger.recordSubmission(
        id,
        leaseID: sent.leaseID,
        ceiling: fixture.time.now.advanced(by: .seconds(1)),
        version: 1
      )
      fixture.time.advance(.seconds(1))
      _ = try await fixture.ledger.expireDue()
      func bring(_ version: Int) async throws -> String {
        try await fixture.ledger.consume(
          HandoffResult(state: sent.request.state, outcome: Self.large, version: version),
          from: .archive,
          retry: .hour,
          jitter: 0
        ).name
      }
      #expect(try await bring(3) == "malformed")
      #expect(try await fixture.handoff(id).lateResults == 0)
      #expect(try kept(fixture) == [Kept(verdict: "malformed", times: 1, bytes: 0)])
      let refusal = LedgerError.illegal(id, IllegalTransition(.expired, .adopt))
      await #expect(throws: refusal) { try await fixture.ledger.adopt(id) }
      #expect(try await bring(1) == "late")
      #expect(try await fixture.ledger.adopt(id).status == .succeeded)
    }
  }
}
