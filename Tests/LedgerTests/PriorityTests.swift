import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import SQLite
import Testing

@Suite("New exports before back-fill", .timeLimit(.minutes(1)))
struct PriorityTests {
  private func order(
    _ fixture: LedgerFixture,
    _ number: Int,
    isBackfill: Bool
  ) async throws -> Handoff.ID {
    let record = try await fixture.add(number)
    var order = HandoffOrder(
      destination: .archive,
      localIdentifiers: [record.localIdentifier],
      isAutomatic: false
    )
    order.isBackfill = isBackfill
    return try await fixture.ledger.create(order).handoff.id
  }

  @Test("a new export is claimed before all back-fill that was due for longer")
  func newFirst() async throws {
    try await LedgerFixture.with { fixture in
      var old: [Handoff.ID] = []
      for number in 1...5 { old.append(try await order(fixture, number, isBackfill: true)) }
      fixture.time.advance(.seconds(60))
      let new = try await order(fixture, 6, isBackfill: false)
      #expect(try await fixture.claim().map(\.handoff.id) == [new])
      #expect(try await fixture.claim(limit: 2).map(\.handoff.id) == [old[0], old[1]])
      let newer = try await order(fixture, 7, isBackfill: false)
      #expect(try await fixture.claim(limit: 9).map(\.handoff.id) == [newer] + old[2...])
      #expect(try await fixture.claim(limit: 9).isEmpty)
    }
  }

  @Test("back-fill never stands still: it has a turn after seven new ones", arguments: [1, 5])
  func noStarvation(limit: Int) async throws {
    try await LedgerFixture.with { fixture in
      var old: [Handoff.ID] = []
      for number in 1...4 { old.append(try await order(fixture, number, isBackfill: true)) }
      for number in 5...36 { _ = try await order(fixture, number, isBackfill: false) }
      var claimed: [Handoff.ID] = []
      while claimed.count < 25 {
        claimed += try await fixture.claim(limit: limit).map(\.handoff.id)
      }
      let turns = claimed.filter { old.contains($0) }
      #expect(turns == Array(old.prefix(turns.count)))
      #expect((2...4).contains(turns.count))
      #expect(Set(claimed).count == claimed.count)
    }
  }

  @Test("the claims' order is the index's own: nothing is sorted, and nothing else is read")
  func usesIndex() async throws {
    try await LedgerFixture.with { fixture in
      let connection = try Connection(fixture.database, .read, busyTimeout: .seconds(5))
      let plan = try connection.rows(
        SQL(
          """
          EXPLAIN QUERY PLAN SELECT id, title FROM handoffs
          WHERE status = 'pending' AND destination = ?1 AND priority = ?2 AND due_at <= ?3
            AND (expires_at IS NULL OR expires_at > ?3)
          ORDER BY due_at, id LIMIT ?4
          """
        )
      ) { row in try row.text(3) }
      try connection.close()
      #expect(
        plan == [
          "SEARCH handoffs USING INDEX handoffs_due (destination=? AND priority=? AND due_at<?)"
        ]
      )
    }
  }
}
