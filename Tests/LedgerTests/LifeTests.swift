import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Testing

@Suite("The life of a handoff", .timeLimit(.minutes(2)))
struct LifeTests {
  @Test("Claims take what is due the longest first, never one twice, and count the attempt")
  func claims() async throws {
    try await LedgerFixture.with { fixture in
      var ids: [Handoff.ID] = []
      for number in 1...5 {
        ids += try await fixture.add(number, to: [.archive]).created
        fixture.time.advance(.milliseconds(10))
      }
      let first = try await fixture.claim(limit: 2)
      #expect(first.map(\.handoff.id) == Array(ids[0...1]))
      #expect(first.allSatisfy { $0.handoff.status == .leased && $0.handoff.attempts == 1 })
      #expect(try await fixture.claim(limit: 10).map(\.handoff.id) == Array(ids[2...]))
      #expect(try await fixture.claim(limit: 10).isEmpty)
      #expect(try await fixture.claim(.social, limit: 10).isEmpty)
    }
  }

  @Test("Many claimers at once never get the same handoff")
  func claimRace() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...60 { try await fixture.add(number, to: [.archive]) }
      let claimed = try await withThrowingTaskGroup(of: [Handoff.ID].self) { group in
        for _ in 0..<40 {
          group.addTask { try await fixture.claim(limit: 2).map(\.handoff.id) }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(claimed.count == 60)
      #expect(Set(claimed).count == 60)
    }
  }

  @Test("Success ends it, with its output")
  func success() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      #expect(try await fixture.ledger.recordAcceptance(claimed.handoff.id))
      let output: [String: JSONValue] = ["url": .string("https://example.net/1")]
      let consumption = try await fixture.answer(claimed, .success(output: output))
      guard case .applied(let handoff) = consumption else {
        Issue.record("\(consumption.name)")
        return
      }
      #expect(handoff.status == .succeeded)
      #expect(handoff.output == output)
      #expect(handoff.result == "success")
      #expect(handoff.finishedAt == fixture.time.now)
      #expect(try await !fixture.ledger.recordAcceptance(claimed.handoff.id))
      let history = try await fixture.ledger.history(of: claimed.handoff.id)
      #expect(history.map(\.kind) == ["created", "claimed", "submitted", "accepted", "succeeded"])
    }
  }

  @Test("Only the attempt that holds the claim may submit or give back")
  func leases() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      let first = try #require(try await fixture.claim().first)
      let id = first.handoff.id
      try await fixture.ledger.release(id, leaseID: first.leaseID)
      let second = try #require(try await fixture.claim().first)
      #expect(second.request.attempt == 2)
      #expect(second.request.state.matches(first.request.state))
      await #expect(throws: LedgerError.leaseLost(id)) {
        try await fixture.ledger.recordSubmission(id, leaseID: first.leaseID)
      }
      await #expect(throws: LedgerError.leaseLost(id)) {
        try await fixture.ledger.release(id, leaseID: first.leaseID)
      }
      try await fixture.ledger.recordSubmission(id, leaseID: second.leaseID)
      await #expect(throws: LedgerError.leaseLost(id)) {
        try await fixture.ledger.recordSubmission(id, leaseID: second.leaseID)
      }
    }
  }

  @Test("A claim that ran out is given back")
  func staleLease() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      let claimed = try #require(try await fixture.claim().first)
      fixture.time.advance(.seconds(59))
      _ = try await fixture.ledger.expireDue()
      #expect(try await fixture.handoff(claimed.handoff.id).status == .leased)
      fixture.time.advance(.seconds(1))
      #expect(try await fixture.ledger.expireDue().isEmpty)
      #expect(try await fixture.handoff(claimed.handoff.id).status == .pending)
    }
  }

  @Test("A start gives claims back, and names what receivers may hold")
  func recovery() async throws {
    try await LedgerFixture.with { fixture in
      let submitted = try await fixture.submitted(1)
      try await fixture.add(2, to: [.archive])
      let leased = try #require(try await fixture.claim().first)
      let inFlight = try await fixture.ledger.recoverAtStart()
      #expect(inFlight.map(\.handoff.id) == [submitted.handoff.id])
      #expect(try #require(inFlight.first).request.state.matches(submitted.request.state))
      #expect(try await fixture.handoff(leased.handoff.id).status == .pending)
    }
  }

  @Test("A failure with effect none is tried again, later and later, with the same token")
  func backoff() async throws {
    try await LedgerFixture.with { fixture in
      var claimed = try await fixture.submitted()
      let token = claimed.request.state
      for seconds in [2, 4, 8] as [Int64] {
        let due = fixture.time.now.advanced(by: .seconds(seconds))
        guard
          case .retried(let handoff, let at) = try await fixture.answer(claimed, .failure(.busy))
        else {
          Issue.record("not retried")
          return
        }
        #expect(at == due)
        #expect(handoff.waiting == .init(.backoff, until: due))
        #expect(handoff.error == .busy)
        #expect(handoff.side == .receiver)
        #expect(try await fixture.claim().isEmpty)
        #expect(try await fixture.ledger.nextDue(destination: .archive) == due)
        fixture.time.advance(.seconds(seconds))
        claimed = try #require(try await fixture.claim().first)
        #expect(claimed.request.state.matches(token))
        try await fixture.ledger.recordSubmission(claimed.handoff.id, leaseID: claimed.leaseID)
      }
      #expect(try await fixture.answer(claimed, .success(output: [:])).name == "applied")
    }
  }

  @Test("Retries end with their time, and the receiver's own wait is kept to")
  func retriesEnd() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      var later = ResultError.busy
      later.retryAfter = 90
      guard case .retried(_, let at) = try await fixture.answer(claimed, .failure(later)) else {
        Issue.record("not retried")
        return
      }
      #expect(at == fixture.time.now.advanced(by: .seconds(90)))
      fixture.time.advance(.seconds(3600))
      let again = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(again.handoff.id, leaseID: again.leaseID)
      _ = try await fixture.answer(again, .failure(.busy))
      let handoff = try await fixture.handoff(again.handoff.id)
      #expect(handoff.status == .failed)
      #expect(handoff.result == "failure")
    }
  }

  @Test("A refusal by the receiver's check is refused, another failure has failed")
  func refusal() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.submitted(1)
      let error = ResultError(.unsupportedMedia, "no", effect: .none)
      _ = try await fixture.answer(first, .failure(error))
      #expect(try await fixture.handoff(first.handoff.id).status == .refused)
      let second = try await fixture.submitted(2)
      _ = try await fixture.answer(second, .failure(ResultError(.auth, "no", effect: .none)))
      #expect(try await fixture.handoff(second.handoff.id).status == .failed)
      let third = try await fixture.submitted(3)
      let partly = ResultError(.network, "published, then lost", effect: .applied, retry: .later)
      _ = try await fixture.answer(third, .failure(partly))
      #expect(try await fixture.handoff(third.handoff.id).status == .failed)
    }
  }

  @Test("An unknown effect is never tried again by machine, and a later answer still counts")
  func unknownEffect() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      let id = claimed.handoff.id
      let crash = try await fixture.ledger.recordBrokerFailure(id, .crashed, retry: .hour)
      #expect(crash.name == "applied")
      #expect(try await fixture.handoff(id).status == .outcomeUnknown)
      fixture.time.advance(.seconds(3600))
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.openHandoffs(destination: .archive).count == 1)
      _ = try await fixture.ledger.recordKnowledge(id, .working)
      #expect(try await fixture.handoff(id).status == .accepted)
      #expect(try await fixture.answer(claimed, .success(output: [:])).name == "applied")
      #expect(try await fixture.handoff(id).status == .succeeded)
    }
  }

  @Test("What a receiver never got is submitted again")
  func notReceived() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      let id = claimed.handoff.id
      _ = try await fixture.ledger.recordKnowledge(id, .unknown)
      #expect(try await fixture.handoff(id).status == .outcomeUnknown)
      #expect(try await fixture.ledger.recordKnowledge(id, .notReceived).status == .pending)
      #expect(try await fixture.claim().map(\.handoff.id) == [id])
    }
  }

  @Test("A failure before the submission cannot have an unknown effect")
  func impossibleEffect() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      let id = try #require(try await fixture.claim().first).handoff.id
      await #expect(throws: LedgerError.self) {
        try await fixture.ledger.recordBrokerFailure(id, .crashed)
      }
      #expect(try await fixture.handoff(id).status == .leased)
      let refusal = ResultError(.durationOutOfRange, "too long", effect: .none)
      _ = try await fixture.ledger.recordBrokerFailure(id, refusal, side: .sender)
      let handoff = try await fixture.handoff(id)
      #expect(handoff.status == .refused)
      #expect(handoff.side == .sender)
    }
  }

  @Test("The ceiling expires with the last known effect; a late success is kept and can be adopted")
  func lateAndAdopted() async throws {
    try await LedgerFixture.with { fixture in
      let ceiling = fixture.time.now.advanced(by: .seconds(10))
      let claimed = try await fixture.submitted(ceiling: ceiling)
      let id = claimed.handoff.id
      fixture.time.advance(.seconds(10))
      let expired = try await fixture.ledger.expireDue()
      #expect(expired.map(\.status) == [.expired])
      #expect(expired.first?.error?.effect == .unknown)
      let late = try await fixture.answer(claimed, .success(output: ["id": .string("7")]))
      #expect(late.name == "late")
      var handoff = try await fixture.handoff(id)
      #expect(handoff.status == .expired)
      #expect(handoff.lateResults == 1)
      #expect(handoff.output.isEmpty)
      handoff = try await fixture.ledger.adopt(id)
      #expect(handoff.status == .succeeded)
      #expect(handoff.output == ["id": .string("7")])
    }
  }

  @Test("A pending handoff waits as long as it is said to")
  func waiting() async throws {
    try await LedgerFixture.with { fixture in
      let id = try #require(try await fixture.add(1, to: [.archive]).created.first)
      #expect(try await fixture.ledger.setWaiting(id, .init(.approval)))
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.nextDue(destination: .archive) == nil)
      #expect(try await fixture.ledger.endWaiting(.quota, destination: .archive) == 0)
      #expect(try await fixture.ledger.endWaiting(.approval, destination: .archive) == 1)
      let claimed = try #require(try await fixture.claim().first)
      #expect(try await !fixture.ledger.setWaiting(id, .init(.approval)))
      try await fixture.ledger.release(id, leaseID: claimed.leaseID, waiting: .init(.slot))
      #expect(try await fixture.handoff(id).waiting == .init(.slot))
    }
  }

  @Test("An operator can cancel, and ask for another attempt with the same token")
  func operators() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.submitted(1)
      let cancelled = try await fixture.ledger.cancel(first.handoff.id)
      #expect(cancelled.status == .cancelled)
      await #expect(throws: LedgerError.self) { try await fixture.ledger.retry(first.handoff.id) }
      #expect(try await fixture.answer(first, .success(output: [:])).name == "late")

      let second = try await fixture.submitted(2)
      _ = try await fixture.answer(second, .failure(ResultError(.auth, "no", effect: .none)))
      #expect(try await fixture.ledger.retry(second.handoff.id).status == .pending)
      let again = try #require(try await fixture.claim().first)
      #expect(again.request.state.matches(second.request.state))
      #expect(again.request.attempt == 2)
      try await fixture.ledger.recordSubmission(again.handoff.id, leaseID: again.leaseID)
      #expect(try await fixture.answer(again, .success(output: [:])).name == "applied")

      let third = try await fixture.submitted(3)
      #expect(try await fixture.ledger.recordNeedOfUser(third.handoff.id).status == .needsUser)
      #expect(try await fixture.ledger.adopt(third.handoff.id).status == .succeeded)
    }
  }

  @Test("Handoffs are listed by status, destination, time and number, the newest first")
  func lists() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...4 {
        fixture.time.advance(.seconds(1))
        try await fixture.add(number, to: [.archive, .social])
      }
      _ = try await fixture.claim(limit: 3)
      let ledger = fixture.ledger
      #expect(try await ledger.handoffs().map(\.id.row) == [8, 7, 6, 5, 4, 3, 2, 1])
      #expect(try await ledger.handoffs(status: .leased).count == 3)
      #expect(try await ledger.handoffs(destination: .social, limit: 2).map(\.id.row) == [8, 6])
      #expect(try await ledger.handoffs(since: fixture.time.now).count == 2)
      #expect(try await ledger.counts().handoffs == [.leased: 3, .pending: 5])
      #expect(try await ledger.pendingCounts() == [.archive: 1, .social: 4])
      #expect(try await ledger.handoff(Handoff.ID(row: 99)) == nil)
    }
  }

  @Test("Commits name the destinations whose handoffs they moved")
  func signals() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let told = Captured<Set<DestinationName>>()
      let time = ManualTime()
      let ledger = try await Ledger.open(
        directory: directory,
        logger: .silent,
        now: { time.now },
        onCommit: told.append
      )
      let fixture = LedgerFixture(ledger: ledger, directory: directory, time: time)
      try await fixture.add(1)
      #expect(told.all.isEmpty)
      try await fixture.add(2, to: [.archive, .social])
      #expect(told.all == [[.archive, .social]])
      _ = try await fixture.claim(.social)
      #expect(told.all.last == [.social])
      try await ledger.close()
    }
  }
}
