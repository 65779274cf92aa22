import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

/// Each kind of tampering, by a hand that can edit the database and has not the key.
@Suite("Audit", .timeLimit(.minutes(2)))
struct AuditTests {
  @Test("An untouched ledger is intact, and says how much there is")
  func intact() async throws {
    try await tampering("SELECT 1") { audit, _ in
      #expect(audit.findings == [])
      #expect(audit.handoffs == 4)
      #expect(audit.assets == 4)
      #expect(audit.events == audit.lastSequence)
    }
  }

  @Test(
    "What was done to the events is found, with the place",
    arguments: [
      ("UPDATE events SET at = at + 1 WHERE seq = 5", "changed", 5, 5),
      ("UPDATE events SET event = 'failed' WHERE seq = 5", "changed", 5, 5),
      ("DELETE FROM events WHERE seq BETWEEN 5 AND 6", "removed", 5, 6),
      ("DELETE FROM events WHERE seq = 1", "removed", 1, 1),
      (
        "INSERT INTO events (seq, at, event, mac) VALUES (0, 1, 'imported', zeroblob (32))",
        "inserted", 0, 0
      ),
      (
        """
        UPDATE events SET seq = -5 WHERE seq = 5; UPDATE events SET seq = 5 WHERE seq = 6;
        UPDATE events SET seq = 6 WHERE seq = -5;
        """, "changed", 5, 7
      ),
      ("DELETE FROM events WHERE seq > 10", "cut", 11, 20),
    ]
  )
  func events(sql: String, kind: String, first: Int64, last: Int64) async throws {
    try await tampering(sql) { audit, _ in
      let found = audit.findings.first { $0.kind.rawValue == kind }
      #expect(found?.first == first, "\(audit.findings)")
      #expect(found?.last == last, "\(audit.findings)")
    }
  }

  @Test(
    "What was done to the tables is found",
    arguments: [
      (
        """
        UPDATE handoffs SET status = 'succeeded', result = 'success', error_code = NULL
        WHERE status = 'failed'
        """, "handoff_differs"
      ),
      (
        """
        UPDATE handoffs SET output = '{"url":"https://evil.example"}'
        WHERE status = 'succeeded'
        """, "handoff_differs"
      ),
      (
        """
        UPDATE events SET detail = NULL WHERE event = 'succeeded'
        """, "handoff_differs"
      ),
      ("DELETE FROM handoffs WHERE status = 'succeeded'", "handoff_removed"),
      (
        "UPDATE assets SET status = 'deleted' WHERE id = 4", "asset_differs"
      ),
      (
        """
        INSERT INTO assets (id, identifier, digest, size, container, video_codec, width, height,
          rotation, duration_s, audio_tracks, imported_at, status)
          SELECT 99, replace (identifier, '/L0', '-L0'), digest, size, container, video_codec, width,
            height, rotation, duration_s, audio_tracks, imported_at, status
          FROM assets WHERE id = 4
        """, "asset_unexplained"
      ),
    ]
  )
  func tables(sql: String, kind: String) async throws {
    try await tampering(sql) { audit, _ in
      #expect(audit.findings.contains { $0.kind.rawValue == kind }, "\(audit.findings)")
    }
  }

  @Test("Without the head file nobody can say that the end is there")
  func noHead() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1, to: [.archive])
      try await fixture.ledger.close()
      try DurableFile.unlink(directory.appending("ledger.head"))
      let reader = try await Ledger.openForReading(directory: directory)
      #expect(try await reader.audit()?.findings.map(\.kind) == [.headMissing])
      try await reader.close()
    }
  }

  @Test("A ledger that was there and is gone is no empty one")
  func vanished() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1, to: [.archive])
      try await fixture.ledger.close()
      try DurableFile.unlink(fixture.database)
      await #expect(throws: LedgerError.vanished(fixture.database)) {
        try await Ledger.openForReading(directory: directory)
      }
    }
  }

  @Test("Under another key nothing is what it was")
  func otherKey() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1, to: [.archive])
      try await fixture.ledger.close()
      try FileBytes.write(Array(repeating: 7, count: 32), to: directory.appending("ledger.key"))
      let reader = try await Ledger.openForReading(directory: directory)
      let findings = try #require(try await reader.audit()).findings
      #expect(findings.first?.kind == .changed)
      #expect(findings.first?.last == 2)
      try await reader.close()
    }
  }

  /// Edits a ledger that is closed, then audits it as a command does.
  private func tampering(
    _ sql: String,
    _ check: (LedgerAudit, BytePath) throws -> Void
  ) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      let done = try await fixture.submitted(1)
      let url = JSONValue.string("https://example.net/1")
      _ = try await fixture.answer(done, .success(output: ["url": url]))
      let failed = try await fixture.submitted(2)
      let no = ResultError(.receiverFailed, "no", effect: .none)
      _ = try await fixture.answer(failed, .failure(no))
      _ = try await fixture.submitted(3)
      _ = try await fixture.submitted(4)
      _ = try await fixture.ledger.cancel(Handoff.ID(row: 4))
      _ = try await fixture.ledger.recordBrokerFailure(Handoff.ID(row: 3), .crashed)
      try await fixture.ledger.close()
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try connection.execute("PRAGMA foreign_keys = OFF")
      for trigger in [
        "events_unchanged", "events_kept", "handoffs_moves", "handoffs_together", "handoffs_ended",
        "handoffs_kept",
      ] {
        try connection.execute("DROP TRIGGER \(trigger)")
      }
      try connection.execute(sql)
      try connection.close()
      let reader = try await Ledger.openForReading(directory: directory)
      let audit = try #require(try await reader.audit())
      try await reader.close()
      try check(audit, directory)
    }
  }
}
