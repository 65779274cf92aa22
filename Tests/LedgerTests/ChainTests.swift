import HandoffCore
import HandoffTestSupport
import Ledger
import Paths
import SQLite
import Testing

@Suite("The chain of events", .timeLimit(.minutes(2)))
struct ChainTests {
  @Test("Events cannot be changed or deleted by accident")
  func guarded() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1)
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      for sql in ["UPDATE events SET at = 1", "DELETE FROM events"] {
        let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
        #expect(error?.isConstraint == true)
      }
      try connection.close()
      #expect(try await fixture.ledger.verifyChain() == .intact(events: 1))
    }
  }

  @Test(
    "A changed, removed, inserted or cut event is found",
    arguments: [
      ("UPDATE events SET at = at + 1 WHERE seq = 5", ChainVerdict.broken(sequence: 5)),
      ("UPDATE events SET detail = '' WHERE seq = 5", .broken(sequence: 5)),
      ("UPDATE events SET mac = zeroblob (32) WHERE seq = 8", .broken(sequence: 8)),
      ("DELETE FROM events WHERE seq = 5", .broken(sequence: 5)),
      ("DELETE FROM events WHERE seq = 1", .broken(sequence: 1)),
      (
        """
        INSERT INTO events (seq, at, event, mac) VALUES (0, 1, 'imported', zeroblob (32))
        """, .broken(sequence: 0)
      ),
      (
        """
        INSERT INTO events (seq, at, event, mac) VALUES (9, 1, 'imported', zeroblob (32))
        """, .broken(sequence: 9)
      ),
      ("DELETE FROM events WHERE seq > 6", .cut(found: 6, expected: 8)),
      ("DELETE FROM events", .cut(found: 0, expected: 8)),
    ]
  )
  func tampered(sql: String, verdict: ChainVerdict) async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...4 { try await fixture.add(number, to: [.archive]) }
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try connection.execute("DROP TRIGGER events_unchanged; DROP TRIGGER events_kept")
      try connection.execute(sql)
      try connection.close()
      #expect(try await fixture.ledger.verifyChain() == verdict)
    }
  }

  @Test("A ledger whose end was cut does not open")
  func cutBeforeOpening() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      for number in 1...4 { try await fixture.add(number) }
      try await fixture.ledger.close()
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try connection.execute("DROP TRIGGER events_kept; DELETE FROM events WHERE seq > 2")
      try connection.close()
      await #expect(throws: LedgerError.cut(fixture.database, found: 2, expected: 4)) {
        try await LedgerFixture.open(directory)
      }
    }
  }

  @Test("An asset's history holds its handoffs' events, in order")
  func history() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted(1)
      let identifier = claimed.handoff.localIdentifiers[0]
      try await fixture.add(2, path: "/exports/1.mp4")
      let history = try await fixture.ledger.history(of: identifier)
      #expect(
        history.map(\.kind) == ["imported", "created", "claimed", "submitted", "superseded"]
      )
      #expect(history.map(\.sequence) == [1, 2, 3, 4, 6])
      #expect(history[3].from == .leased)
      #expect(history[3].to == .submitted)
      #expect(history[0].asset == identifier)
    }
  }
}
