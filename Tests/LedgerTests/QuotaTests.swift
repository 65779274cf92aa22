import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import SQLite
import Testing

@Suite("Quota", .timeLimit(.minutes(1)))
struct QuotaTests {
  /// Two in ten seconds.
  private static let rules = [
    DestinationName.archive: DestinationRules(quota: Quota(count: 2, duration: .seconds(10)))
  ]

  private func run(
    _ count: Int = 6,
    _ body: nonisolated(nonsending) (LedgerFixture) async throws -> Void
  ) async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.setRules(Self.rules)
      for number in 0..<count { try await fixture.add(number + 1, to: [.archive]) }
      try await body(fixture)
    }
  }

  @discardableResult
  private func submit(_ fixture: LedgerFixture, limit: Int = 1) async throws -> [ClaimedHandoff] {
    let claimed = try await fixture.claim(limit: limit)
    for claim in claimed {
      try await fixture.ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
    }
    return claimed
  }

  private func free(_ fixture: LedgerFixture) async throws -> Timestamp? {
    try await fixture.ledger.destinationWaits(at: fixture.time.now)[.archive]?.quotaFreeAt
  }

  @Test("the window slides: each place is free again after its own time")
  func slides() async throws {
    try await run { fixture in
      let start = fixture.time.now
      #expect(try await submit(fixture).count == 1)
      fixture.time.advance(.seconds(4))
      #expect(try await submit(fixture, limit: 5).count == 1)
      #expect(try await submit(fixture).isEmpty)
      #expect(try await free(fixture) == start.advanced(by: .seconds(10)))
      let next = try await fixture.ledger.nextDue(destination: .archive, at: fixture.time.now)
      #expect(next == start.advanced(by: .seconds(10)))
      fixture.time.advance(.milliseconds(5_999))
      #expect(try await submit(fixture).isEmpty)
      fixture.time.advance(.milliseconds(1))
      #expect(try await free(fixture) == nil)
      #expect(try await submit(fixture, limit: 5).count == 1)
      #expect(try await free(fixture) == start.advanced(by: .seconds(14)))
    }
  }

  @Test("claims at one moment never take more than there are places")
  func race() async throws {
    try await run(30) { fixture in
      let counts = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 { group.addTask { try await fixture.claim(limit: 2).count } }
        return try await group.reduce(into: 0) { $0 += $1 }
      }
      #expect(counts == 2)
    }
  }

  @Test("a claim that is not submitted gives its place back")
  func released() async throws {
    try await run { fixture in
      let claimed = try await fixture.claim(limit: 2)
      try await fixture.ledger.release(claimed[0].handoff.id, leaseID: claimed[0].leaseID)
      #expect(try await fixture.claim(limit: 5).count == 1)
      #expect(try await fixture.claim(limit: 5).isEmpty)
      // A broker that dies between claim and submission has sent nothing.
      _ = try await fixture.ledger.recoverAtStart()
      #expect(try await fixture.claim(limit: 5).count == 2)
    }
  }

  @Test(
    "an attempt that left nothing behind gives its place back, one that may have keeps it",
    arguments: [
      (ResultError(.network, "no route", effect: .none, retry: .later), true),
      (ResultError(.unsupportedMedia, "no", effect: .none), true),
      (ResultError(.quota, "too many", effect: .none, retry: .later), false),
      (ResultError(.receiverCrashed, "signal 11", effect: .unknown), false),
      (ResultError(.receiverFailed, "half", effect: .applied), false),
    ]
  )
  func effects(error: ResultError, isFree: Bool) async throws {
    try await run { fixture in
      let claimed = try await submit(fixture, limit: 2)
      _ = try await fixture.answer(claimed[0], .failure(error))
      _ = try await fixture.answer(claimed[1], .success(output: [:]))
      #expect(try await fixture.claim(limit: 5).count == (isFree ? 1 : 0))
    }
  }

  @Test("it holds over a restart, and forgets by itself what is past")
  func restart() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      var fixture = try await LedgerFixture.open(directory)
      try await fixture.ledger.setRules(Self.rules)
      for number in 1...6 { try await fixture.add(number, to: [.archive]) }
      try await submit(fixture, limit: 2)
      try await fixture.ledger.close()
      fixture = try await LedgerFixture.open(directory, time: fixture.time)
      try await fixture.ledger.setRules(Self.rules)
      #expect(try await submit(fixture).isEmpty)
      fixture.time.advance(.seconds(10))
      #expect(try await submit(fixture).count == 1)
      #expect(try await fixture.places == 1)
      try await fixture.ledger.setRules([:])
      #expect(try await fixture.places == 0)
      try await fixture.ledger.close()
    }
  }

  @Test("what was submitted before the quota was in force, or as long, counts")
  func isNew() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...6 { try await fixture.add(number, to: [.archive]) }
      let claimed = try await submit(fixture, limit: 2)
      _ = try await fixture.answer(claimed[0], .success(output: [:]))
      fixture.time.advance(.seconds(3))
      try await fixture.ledger.setRules(Self.rules)
      #expect(try await submit(fixture).isEmpty)
      fixture.time.advance(.seconds(7))
      #expect(try await submit(fixture, limit: 2).count == 2)
    }
  }

  @Test("a clock that goes far back makes nobody wait for longer than the quota's own time")
  func clock() async throws {
    try await run { fixture in
      try await submit(fixture, limit: 2)
      fixture.time.advance(.seconds(-100_000))
      let free = try #require(try await free(fixture))
      #expect(free == fixture.time.now.advanced(by: .seconds(10)))
    }
  }
}

extension LedgerFixture {
  /// How many places of quotas are taken.
  fileprivate var places: Int {
    get async throws {
      let file = try Connection(database, .read, busyTimeout: .seconds(5))
      defer { withExtendedLifetime(file) {} }
      return Int(
        try file.first(SQL("SELECT count(*) FROM quota_places")) { row in try row.integer(0) } ?? 0
      )
    }
  }
}
