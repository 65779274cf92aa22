import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import SQLite
import Testing

@Suite("Beside other programs", .timeLimit(.minutes(3)))
struct ContentionTests {
  @Test("While sqlite3 holds the write lock for three seconds, fifty results wait and none is lost")
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

  @Test("An open reader does not keep results from being recorded, and the log shrinks after it")
  func openReader() async throws {
    try await LedgerFixture.with { fixture in
      let reader = try Connection(fixture.database, .read, busyTimeout: .seconds(5))
      try reader.execute("BEGIN")
      let before = try reader.first(Self.count) { row in try row.integer(0) }
      for number in 1...200 { try await fixture.add(number, to: [.archive]) }
      #expect(try reader.first(Self.count) { row in try row.integer(0) } == before)
      try reader.execute("COMMIT")
      #expect(try reader.first(Self.count) { row in try row.integer(0) } == 200)
      try reader.close()
    }
  }

  private static let count = SQL("SELECT count(*) FROM handoffs")

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
