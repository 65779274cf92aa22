import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import Testing

/// Handoffs that were in flight when something crashed.
@Suite("Suspects", .timeLimit(.minutes(2)))
struct SuspectTests {
  @Test("A handoff that is in hand at each crash is given up, and comes later each time until then")
  func givenUp() async throws {
    try await withLives { life in
      var fixture = try await life(nil)
      let id = try #require(try await fixture.add(1, to: [.archive]).created.first)
      var waits: [Int64] = []
      for _ in 1...3 {
        #expect(try await fixture.claim().map(\.handoff.id) == [id])
        fixture = try await life(fixture)
        let handoff = try await fixture.handoff(id)
        #expect(handoff.status == .pending)
        #expect(handoff.waiting?.reason == .backoff)
        #expect(try await fixture.claim().isEmpty)
        waits.append(try #require(handoff.waiting?.until).since(fixture.time.now).wholeMilliseconds)
        fixture.time.advance(.seconds(20))
      }
      #expect(waits == [1_000, 2_000, 4_000])
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.expireDue().map(\.id) == [id])
      let end = try await fixture.handoff(id)
      #expect(end.status == .failed)
      #expect(end.error?.code == .receiverCrashed)
      #expect(end.error?.effect == Effect.none)
      #expect(try await fixture.ledger.givenUp(limit: 10).map(\.id) == [id])
      // A person has it tried again: it begins anew.
      _ = try await fixture.ledger.retry(id)
      #expect(try await fixture.claim().map(\.handoff.id) == [id])
      #expect(try await fixture.ledger.givenUp(limit: 10).isEmpty)
      return fixture
    }
  }

  @Test("What was beside it is tried one by one, ends well and is cleared")
  func beside() async throws {
    try await withLives { life in
      var fixture = try await life(nil)
      for number in 1...3 { try await fixture.add(number, to: [.archive]) }
      #expect(try await fixture.claim(limit: 3).count == 3)
      fixture = try await life(fixture)
      fixture.time.advance(.seconds(5))
      var done: [Handoff.ID] = []
      for _ in 1...3 {
        let claimed = try await fixture.claim(limit: 3)
        // One suspect at a time, and the next as soon as it has ended.
        let one = try #require(claimed.first)
        #expect(claimed.count == 1)
        try await fixture.ledger.recordSubmission(one.handoff.id, leaseID: one.leaseID)
        _ = try await fixture.answer(one, .success(output: [:]))
        done.append(one.handoff.id)
      }
      #expect(Set(done).count == 3)
      return fixture
    }
  }

  @Test("What survived an earlier life is not blamed where there is something newer")
  func survivor() async throws {
    try await withLives { life in
      var fixture = try await life(nil)
      let old = try await fixture.submitted(1)
      try await fixture.ledger.recordAcceptance(old.handoff.id)
      fixture = try await life(fixture)
      try await fixture.add(2, to: [.archive])
      #expect(try await fixture.claim().count == 1)
      fixture = try await life(fixture)
      let history = try await fixture.ledger.history(of: old.handoff.id)
      #expect(history.count { $0.kind == "broker_crashed" } == 1)
      return fixture
    }
  }

  @Test("A plugin that crashes whenever it is asked about a handoff is not asked any more")
  func askedNoMore() async throws {
    try await withLives { life in
      let fixture = try await life(nil)
      let claimed = try await fixture.submitted(1)
      let id = claimed.handoff.id
      try await fixture.ledger.recordAcceptance(id)
      for crash in 1...4 {
        let ended = try await fixture.ledger.recordReceiverCrash(.archive, since: fixture.time.now)
        #expect(ended.count == (crash == 4 ? 1 : 0))
        fixture.time.advance(.seconds(1))
      }
      #expect(try await fixture.handoff(id).status == .outcomeUnknown)
      #expect(try await fixture.ledger.openHandoffs(destination: .archive).isEmpty)
      return fixture
    }
  }

  @Test("An end in good order puts nothing down to anybody")
  func goodOrder() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let time = ManualTime()
      let first = try await LedgerFixture.open(directory, time: time)
      _ = try await first.ledger.recoverAtStart()
      try await first.add(1, to: [.archive])
      #expect(try await first.claim().count == 1)
      try await first.ledger.close()
      let second = try await LedgerFixture.open(directory, time: time)
      _ = try await second.ledger.recoverAtStart()
      #expect(try await second.claim().count == 1)
      try await second.ledger.close()
    }
  }

  @Test("Failed handoffs are tried again together; what may have happened is left out")
  func bulk() async throws {
    try await LedgerFixture.with { fixture in
      let no = ResultError(.receiverFailed, "no", effect: .none)
      var failed: [Handoff.ID] = []
      for number in 1...3 {
        let claimed = try await fixture.submitted(number)
        _ = try await fixture.answer(claimed, .failure(no))
        failed.append(claimed.handoff.id)
      }
      let partly = try await fixture.standing(at: .failed, 4).handoff.id
      let unknown = try await fixture.standing(at: .outcomeUnknown, 5).handoff.id
      _ = try await fixture.standing(at: .refused, 6)
      func retry(after: Handoff.ID?, dry: Bool) async throws -> [BulkRetry] {
        try await fixture.ledger.retryFailed(
          to: .archive,
          configured: [.archive],
          after: after,
          isDryRun: dry,
          limit: 2
        )
      }
      #expect(try await retry(after: nil, dry: true).map(\.handoff.id) == Array(failed.prefix(2)))
      #expect(try await fixture.handoff(failed[0]).status == .failed)
      var looked: [BulkRetry] = []
      repeat {
        let part = try await retry(after: looked.last?.handoff.id, dry: false)
        if part.isEmpty { break }
        looked += part
      } while true
      #expect(looked.filter { $0.leftOut == nil }.map(\.handoff.id) == failed)
      #expect(Set(looked.filter { $0.leftOut != nil }.map(\.handoff.id)) == [partly, unknown])
      for id in failed { #expect(try await fixture.handoff(id).status == .pending) }
      #expect(try await fixture.handoff(partly).status == .failed)
    }
  }

  /// Runs lives of one ledger: each call of the given closure ends a life as a crash does, with nothing
  /// said, and begins the next.
  private func withLives(
    _ body: ((LedgerFixture?) async throws -> LedgerFixture) async throws -> LedgerFixture
  ) async throws {
    try await withTemporaryDirectory(inMemory: true) { root in
      var count = 0
      let time = ManualTime()
      let last = try await body { before in
        count += 1
        let directory = root.appending(BytePath("\(count)"))
        try Directory.create(directory)
        if let before {
          // A copy of what is on the disk is what a crash leaves.
          for name in ["ledger.db", "ledger.db-wal", "ledger.key", "ledger.head"] {
            let from = before.directory.appending(BytePath(name))
            guard let bytes = try? FileBytes.read(from) else { continue }
            try FileBytes.write(bytes, to: directory.appending(BytePath(name)))
          }
          try await before.ledger.close()
        }
        let fixture = try await LedgerFixture.open(directory, time: time)
        _ = try await fixture.ledger.recoverAtStart()
        return fixture
      }
      try await last.ledger.close()
    }
  }
}
