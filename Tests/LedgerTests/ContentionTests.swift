import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import SQLite
import Testing

@Suite("Beside other programs", .timeLimit(.minutes(3)))
struct ContentionTests {
  @Test(
    "Case 12: while sqlite3 holds the write lock for three seconds, fifty results wait and none is lost"
  )
  func outsideWriter() async throws {
    guard await shell("command -v sqlite3 >/dev/null") == 0 else {
      print("skipped: there is no sqlite3 tool")
      return
    }
    try await LedgerFixture.with { fixture in
      for number in 1...50 { try await fixture.add(number, to: [.archive]) }
      let claimed = try await fixture.claim(limit: 50)
      for claim in claimed {
        try await fixture.ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
      }
      let line =
        "(echo 'BEGIN IMMEDIATE;'; sleep 3; echo 'COMMIT;') | sqlite3 '\(fixture.database)'"
      async let outside = shell(line)
      let isHeld = try await poll { try Self.isLocked(fixture) ? true : nil }
      #expect(isHeld == true)
      try await withThrowingTaskGroup(of: String.self) { group in
        for claim in claimed {
          group.addTask { try await fixture.answer(claim, .success(output: [:])).name }
        }
        for try await name in group { #expect(name == "applied") }
      }
      #expect(await outside == 0)
      #expect(try await fixture.ledger.counts().handoffs == [.succeeded: 50])
    }
  }

  @Test(
    "Case 12: beyond the limit a result is refused, the ledger says so, and the result comes again"
  )
  func beyondPatience() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let time = ManualTime()
      let ledger = try await Ledger.open(
        directory: directory,
        logger: .silent,
        now: { time.now },
        lockPatience: .milliseconds(100)
      )
      let fixture = LedgerFixture(ledger: ledger, directory: directory, time: time)
      let sent = try await fixture.submitted()
      #expect(await ledger.condition().failure == nil)
      let outside = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try outside.execute("BEGIN IMMEDIATE")
      for _ in 0..<2 {
        let error = await #expect(throws: SQLiteError.self) {
          _ = try await fixture.answer(sent, .success(output: [:]))
        }
        #expect(error?.isBusy == true)
        time.advance(.seconds(1))
      }
      let failing = await ledger.condition()
      #expect(failing.failure?.contains("locked") == true)
      #expect(failing.failingSince == time.now.advanced(by: .seconds(-2)))
      // It is the ledger's trouble and nobody's fault: what is refused for its content is none.
      try outside.execute("ROLLBACK")
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "applied")
      #expect(await ledger.condition().failure == nil)
      await #expect(throws: LedgerError.self) { try await ledger.cancel(sent.handoff.id) }
      #expect(await ledger.condition().failure == nil)
      try outside.close()
      try await ledger.close()
    }
  }

  private static func isLocked(_ fixture: LedgerFixture) throws -> Bool {
    do {
      let probe = try Connection(fixture.database, .write, busyTimeout: .zero)
      try probe.transaction {}
      return false
    } catch let error as SQLiteError where error.isBusy {
      return true
    }
  }
}
