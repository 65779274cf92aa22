import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import SQLite
import Synchronization
import Testing

@Suite("Expiry", .timeLimit(.minutes(10)))
struct ExpiryTests {
  private static let isLong = environmentValue("HANDOFF_LONG") != nil

  @Test("What can only be expired is due for nobody, so that no claim loop turns over it")
  func nextDue() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      let now = fixture.time.now
      try await Self.create(fixture, identifier, expiresIn: .seconds(5))
      #expect(try await fixture.ledger.nextDue(destination: .archive, at: now) == now)
      fixture.time.advance(.seconds(5))
      let later = fixture.time.now
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.nextDue(destination: .archive, at: later) == nil)
      try await Self.create(fixture, identifier, expiresIn: nil)
      #expect(try await fixture.ledger.nextDue(destination: .archive, at: later) == later)
    }
  }

  @Test(
    "The expiry job loses every race against a result that came first, and touches nothing answered"
  )
  func races() async throws {
    try await LedgerFixture.with { fixture in
      let ceiling = fixture.time.now.advanced(by: .seconds(10))
      var sent: [ClaimedHandoff] = []
      for number in 1...150 {
        sent.append(try await fixture.submitted(number, ceiling: ceiling))
      }
      let told = Told()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, claimed) in sent.enumerated() {
          if index.isMultiple(of: 25) {
            // The moment comes in the middle of them, and the job looks at every turn.
            group.addTask {
              if index == 50 { fixture.time.advance(.seconds(10)) }
              let ended = try await fixture.ledger.expireDue().map(\.id)
              told.expired.withLock { $0 += ended }
            }
          }
          group.addTask {
            let name = try await fixture.answer(claimed, .success(output: [:])).name
            told.answered.withLock { $0[claimed.handoff.id] = name }
          }
        }
        try await group.waitForAll()
      }
      fixture.time.advance(.seconds(10))
      #expect(try await fixture.ledger.expireDue().isEmpty)
      let (names, ended) = (told.answered.withLock { $0 }, told.expired.withLock { $0 })
      #expect(Set(ended).count == ended.count)
      for claimed in sent {
        let id = claimed.handoff.id
        let status = try await fixture.handoff(id).status
        #expect(status == (names[id] == "applied" ? .succeeded : .expired))
        #expect(names[id] == "applied" || names[id] == "late")
        if names[id] == "applied" { #expect(!ended.contains(id)) }
      }
    }
  }

  @Test(
    "Case 75: very many that expire at once are marked once each, in batches, and their tokens forgotten"
  )
  func manyAtOnce() async throws {
    let count = Self.isLong ? 100_000 : 3_000
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      let sent = try await fixture.submitted(2, ceiling: fixture.time.now)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for part in 0..<64 {
          group.addTask {
            for _ in stride(from: part, to: count, by: 64) {
              try await Self.create(fixture, identifier, expiresIn: .milliseconds(10))
            }
          }
        }
        try await group.waitForAll()
      }
      fixture.time.advance(.milliseconds(10))
      var seen: Set<Handoff.ID> = []
      while true {
        let batch = try await fixture.ledger.expireDue()
        if batch.isEmpty { break }
        #expect(batch.count <= 200)
        #expect(batch.allSatisfy { seen.insert($0.id).inserted && $0.status == .expired })
      }
      #expect(seen.count == count + 1)
      let connection = try Connection(fixture.database, .read, busyTimeout: .seconds(5))
      func number(_ sql: SQL) throws -> Int64 {
        try connection.first(sql) { row in try row.integer(0) } ?? -1
      }
      #expect(try number(Self.expiries) == Int64(count) + 1)
      #expect(try number(Self.shown) == Int64(count) + 1)

      // Nothing is forgotten before its time, and then everything, bit by bit.
      #expect(try await fixture.ledger.forgetTokens(endedBefore: fixture.time.now) == 0)
      #expect(try number(Self.remembered) == Int64(count) + 1)
      fixture.time.advance(.seconds(1))
      var forgotten = 0
      while true {
        let some = try await fixture.ledger.forgetTokens(endedBefore: fixture.time.now)
        if some == 0 { break }
        #expect(some <= 500)
        forgotten += some
      }
      #expect(forgotten == count + 1)
      #expect(try number(Self.remembered) == 0)
      try connection.close()
      // A result that comes after all is still told from a foreign one, and kept.
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "late")
      #expect(try await fixture.ledger.adopt(sent.handoff.id).status == .succeeded)
    }
  }

  @Test("Case 75: a failed handoff keeps its token, which another attempt brings again")
  func keptToken() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      _ = try await fixture.answer(claimed, .failure(ResultError(.auth, "no", effect: .none)))
      fixture.time.advance(.seconds(1))
      #expect(try await fixture.ledger.forgetTokens(endedBefore: fixture.time.now) == 0)
      _ = try await fixture.ledger.retry(claimed.handoff.id)
      let again = try #require(try await fixture.claim().first)
      #expect(again.request.state.matches(claimed.request.state))
    }
  }

  @Test("86: who waits for a moment to publish is woken when the clock is set")
  func publishMoment() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let clocks = WalkClocks()
      let told = Told()
      let ledger = try await Ledger.open(
        directory: directory,
        logger: .silent,
        now: { clocks.now },
        bootClock: clocks.boot,
        onCommit: { names in told.woken.withLock { $0.formUnion(names) } }
      )
      let fixture = LedgerFixture(ledger: ledger, directory: directory, time: ManualTime())
      var order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [try await fixture.add(1).localIdentifier],
        isAutomatic: false
      )
      order.publishAt = clocks.now.advanced(by: .seconds(3600))
      _ = try await ledger.create(order)
      told.woken.withLock { $0 = [] }
      _ = try await ledger.expireDue()
      #expect(told.woken.withLock { $0 }.isEmpty)
      clocks.set(by: 3_600_000)
      // What the expiry job does every few seconds.
      _ = try await ledger.expireDue()
      #expect(told.woken.withLock { $0 } == [.archive])
      #expect(try await fixture.claim().count == 1)
      try await ledger.close()
    }
  }

  private final class Told: Sendable {
    let answered = Mutex<[Handoff.ID: String]>([:])
    let expired = Mutex<[Handoff.ID]>([])
    let woken = Mutex<Set<DestinationName>>([])
  }

  @discardableResult
  private static func create(
    _ fixture: LedgerFixture,
    _ identifier: LocalIdentifier,
    expiresIn time: Duration?
  ) async throws -> Handoff.ID {
    var order = HandoffOrder(
      destination: .archive,
      localIdentifiers: [identifier],
      isAutomatic: false
    )
    order.expiresAt = time.map { fixture.time.now.advanced(by: $0) }
    return try await fixture.ledger.create(order, again: true).handoff.id
  }

  private static let expiries = SQL("SELECT count(*) FROM events WHERE event = 'expired'")
  private static let shown = SQL("SELECT count(*) FROM expired")
  private static let remembered = SQL(
    "SELECT count(*) FROM handoffs WHERE token_random <> zeroblob (24)"
  )
}
