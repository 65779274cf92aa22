import HandoffCore
import HandoffProtocol
import Ledger
import SQLite
import Testing

@Suite("The ledger's schema", .timeLimit(.minutes(2)))
struct SchemaTests {
  @Test(
    "The views have id, destination, status and times",
    arguments: [
      ("pending", "handoff_id, destination, status, created_at"),
      ("results", "handoff_id, destination, status, received_at"),
      ("expired", "handoff_id, destination, status, finished_at"),
      ("timeline", "handoff_id, destination, status, at"),
      ("attempts", "handoff_id, destination, outcome, claimed_at"),
    ]
  )
  func views(name: String, columns: String) async throws {
    try await LedgerFixture.with { fixture in
      let ceiling = fixture.time.now
      let expiring = try await fixture.submitted(1, ceiling: ceiling)
      _ = try await fixture.ledger.expireDue()
      _ = try await fixture.answer(expiring, .success(output: [:]))
      try await fixture.add(2, to: [.archive])
      let connection = try Connection(fixture.database, .read, busyTimeout: .seconds(5))
      let rows = try connection.rows(
        SQL("SELECT \(columns) FROM \(name) WHERE handoff_id IS NOT NULL")
      ) { row in
        (id: try row.text(0), destination: try row.text(1), time: try row.integer(3))
      }
      try connection.close()
      #expect(!rows.isEmpty)
      #expect(rows.allSatisfy { Handoff.ID($0.id) != nil && $0.destination == "archive" })
      #expect(rows.allSatisfy { $0.time == fixture.time.now.milliseconds })
    }
  }

  @Test(
    "Contradictory rows are refused",
    arguments: [
      "status = 'done'", "status = 'succeeded'", "status = 'failed', finished_at = 1",
      "result = 'success'", "finished_at = 1", "waiting_reason = 'quota'", "consumed_at = 1",
      "submitted_at = NULL", "error_code = 'auth'", "token_digest = x'00'", "sync_publish = 2",
      "created_at = 'yesterday'", "lease_until = 1", "attempts = 2", "attempts = 0",
      "submitted_at = 5", "late_results = -1", "failures = -1",
      "consumed_at = 1, status = 'expired', finished_at = 1",
      "result = 'success', status = 'expired', finished_at = 1",
      "status = 'pending', due_at = NULL", "token_random = zeroblob (24)",
      "cancel_requested_at = 1, status = 'expired', finished_at = 1",
    ]
  )
  func contradictions(change: String) async throws {
    try await LedgerFixture.with { fixture in
      _ = try await fixture.submitted()
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      let error = #expect(throws: SQLiteError.self) {
        try connection.execute("UPDATE handoffs SET \(change)")
      }
      #expect(error?.isConstraint == true)
      try connection.close()
    }
  }
}
