import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Testing

/// What one part of the ledger does to another's.
@Suite("The ledger's parts together", .timeLimit(.minutes(2)))
struct TogetherTests {
  @Test("A rendition that is replaced after the approval is not sent", arguments: [false, true])
  func approvedRendition(isClaimed: Bool) async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(HandingOrder([.social: []], use: .proxy))
      try await fixture.ledger.setRules([
        .social: DestinationRules(needsApproval: true, rendition: .proxy)
      ])
      let maker = try await fixture.submitted()
      let name = maker.handoff.localIdentifiers[0]
      func register(_ number: Int) async throws {
        let content = try sampleAsset(number, at: fixture.time.now)
        let proxy = Rendition(
          name: .proxy,
          digest: content.digest,
          size: content.size,
          fileExtension: "mp4",
          facts: content.facts,
          registeredBy: .archive,
          registeredAt: fixture.time.now
        )
        try await fixture.ledger.register(proxy, of: name, under: maker.handoff.id)
      }
      try await register(100)
      let order = HandoffOrder(destination: .social, localIdentifiers: [name], isAutomatic: false)
      let id = try await fixture.ledger.create(order).handoff.id
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      let claimed = isClaimed ? try await fixture.claim(.social).first : nil
      try await register(101)
      if let claimed {
        #expect(try await !fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID))
      }
      #expect(try await fixture.claim(.social).isEmpty)
      #expect(try await fixture.handoff(id).waiting == .init(.approval))
      #expect(try fixture.events("event = 'approval_void'").count == 1)
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      #expect(try await fixture.claim(.social).count == 1)
    }
  }

  @Test("One that is tried again is not published before its moment")
  func retryBeforeItsMoment() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let name = try await fixture.add(1, to: [.archive]).localIdentifier
      var order = HandoffOrder(destination: .social, localIdentifiers: [name], isAutomatic: false)
      order.publishAt = fixture.time.now.advanced(by: .seconds(60))
      let id = try await fixture.ledger.create(order).handoff.id
      let first = try #require(try await fixture.claim().first)
      try await fixture.submit(first)
      _ = try await fixture.answer(first, .failure(ResultError(.auth, "no", effect: .none)))
      #expect(try await fixture.handoff(id).status == .failed)
      _ = try await fixture.ledger.retry(first.handoff.id)
      let second = try #require(try await fixture.claim().first)
      try await fixture.submit(second)
      _ = try await fixture.answer(second, .success(output: [:]))
      let waiting = try await fixture.ledger.retry(id).waiting
      #expect(waiting == Handoff.Waiting(.publishAt, until: order.publishAt))
      #expect(try await fixture.claim(.social).isEmpty)
      fixture.time.advance(.seconds(60))
      #expect(try await fixture.claim(.social).map(\.handoff.id) == [id])
    }
  }

  @Test("Given up after crashes and then ended by a person, it goes with the others in time")
  func endedSuspect() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await fixture.submitted().handoff.id
      for _ in 1...4 {
        _ = try await fixture.ledger.recordReceiverCrash(.archive, since: fixture.time.now)
      }
      #expect(try await fixture.handoff(id).status == .outcomeUnknown)
      _ = try await fixture.ledger.cancel(id)
      fixture.time.advance(.seconds(100))
      #expect(try await fixture.ledger.prune(endedBefore: fixture.time.now).handoffs == 1)
    }
  }

  @Test("The place of an attempt that may have done something stays taken, whatever ends the next")
  func doubtfulPlace() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.setRules([
        .archive: DestinationRules(quota: Quota(count: 1, duration: .seconds(100)))
      ])
      let sent = try await fixture.submitted()
      var policy = RetryPolicy.hour
      policy.repeatsUnknown = true
      let lost = ResultError(.receiverCrashed, "gone", effect: .unknown, retry: .later)
      _ = try await fixture.answer(sent, .failure(lost), retry: policy)
      #expect(try await fixture.handoff(sent.handoff.id).status == .pending)
      let asset = sent.handoff.localIdentifiers[0]
      _ = try await fixture.ledger.delete(asset, force: true, reason: "test")
      try await fixture.add(2, to: [.archive])
      #expect(try await fixture.claim().isEmpty)
      fixture.time.advance(.seconds(100))
      #expect(try await fixture.claim().count == 1)
    }
  }

  @Test("What a receiver has not had takes no place, though an attempt before it met the quota")
  func notReceived() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.setRules([
        .archive: DestinationRules(quota: Quota(count: 1, duration: .seconds(100)))
      ])
      let first = try await fixture.submitted()
      let full = ResultError(.quota, "too many", effect: .none, retry: .later)
      _ = try await fixture.answer(first, .failure(full))
      fixture.time.advance(.seconds(100))
      let second = try #require(try await fixture.claim().first)
      try await fixture.submit(second)
      _ = try await fixture.ledger.recordKnowledge(second.handoff.id, .notReceived)
      #expect(try await fixture.claim().count == 1)
    }
  }

  @Test("A place in the chain counts as passed when its event was pruned from the middle")
  func prunedPosition() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1)
      let sent = try await fixture.submitted(2)
      let middle = try await fixture.ledger.position()
      _ = try await fixture.answer(sent, .success(output: [:]))
      let last = try await fixture.ledger.position()
      fixture.time.advance(.seconds(100))
      #expect(try await fixture.ledger.prune(endedBefore: fixture.time.now).handoffs == 1)
      #expect(try await fixture.ledger.hasPassed(middle))
      #expect(try await fixture.ledger.hasPassed(last))
      // The code of a run's last event is known: another ledger's is none of this one's.
      let other = LedgerPosition(event: last.event, code: middle.code)
      #expect(try await !fixture.ledger.hasPassed(other))
      let beyond = LedgerPosition(event: last.event + 9, code: last.code)
      #expect(try await !fixture.ledger.hasPassed(beyond))
    }
  }
}
