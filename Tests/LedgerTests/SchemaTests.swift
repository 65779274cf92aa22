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

  @Test("No statement can do what the domain's table forbids to a final handoff")
  func finalStates() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await fixture.submitted().handoff.id.row
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      for before in HandoffStatus.allCases where before.isFinal {
        for after in HandoffStatus.allCases where after != before {
          // Back to the open row that every case begins with.
          try connection.execute("SAVEPOINT s; \(update(id, to: before))")
          let isLegal = events.contains { event in
            (try? HandoffLifecycle.status(after: event, from: before)) == after
          }
          let isAllowed = (try? connection.execute(update(id, to: after))) != nil
          #expect(isAllowed == isLegal, "\(before) to \(after)")
          try connection.execute("ROLLBACK TO s; RELEASE s")
        }
      }
      try connection.close()
    }
  }

  @Test(
    "Contradictory rows are refused",
    arguments: [
      "status = 'done'", "status = 'succeeded'", "status = 'failed', finished_at = 1",
      "result = 'success'", "finished_at = 1", "waiting_reason = 'quota'", "consumed_at = 1",
      "submitted_at = NULL", "error_code = 'auth'", "token_digest = x'00'", "sync_publish = 2",
      "created_at = 'yesterday'",
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

  private let events: [HandoffEvent] = [
    .claim, .release, .submit, .accept, .success, .cancelled, .failure(.none, retry: true),
    .failure(.none, retry: false), .failure(.applied, retry: false),
    .failure(.unknown, retry: false), .refuse, .loseTrack, .notReceived, .needUser, .expire,
    .withdraw, .adopt, .retry,
  ]

  /// A change that all other checks let pass.
  private func update(_ id: Int64, to status: HandoffStatus) -> String {
    let result =
      switch status {
      case .succeeded: "'success'"
      case .cancelled: "'cancelled'"
      case .refused, .failed: "'failure'"
      case .pending, .leased, .submitted, .accepted, .outcomeUnknown, .needsUser, .expired: "NULL"
      }
    return """
      UPDATE handoffs SET status = '\(status.rawValue)', result = \(result), lease_until = 1,
        finished_at = \(status.isFinal ? "1" : "NULL") WHERE id = \(id)
      """
  }
}
