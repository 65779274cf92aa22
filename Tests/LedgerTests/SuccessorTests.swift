import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Testing

/// What a ledger that takes another's place knows of it.
@Suite("A ledger in another's place", .timeLimit(.minutes(2)))
struct SuccessorTests {
  @Test("Pauses, allowances and taken places of quotas hold in it too")
  func remains() async throws {
    let rules = [
      DestinationName.archive: DestinationRules(quota: Quota(count: 1, duration: .seconds(100)))
    ]
    try await LedgerFixture.with { former in
      try await former.ledger.setRules(rules)
      let sent = try await former.submitted()
      _ = try await former.answer(sent, .success(output: [:]))
      let name = sent.handoff.localIdentifiers[0]
      try await former.ledger.allow(name, to: .social)
      #expect(try await former.ledger.pause(.social, by: 7))
      let asset = try #require(try await former.ledger.asset(name))
      let remains = try await former.ledger.remains()
      try await LedgerFixture.with { fixture in
        try await fixture.ledger.restore([asset])
        try await fixture.ledger.beginHandoffs(after: sent.handoff.id.row)
        try await fixture.ledger.takeOver(remains)
        try await fixture.ledger.takeOver(remains)
        #expect(try await fixture.ledger.pauses() == former.ledger.pauses())
        #expect(try await fixture.ledger.isAllowed(name, to: .social))
        #expect(try fixture.events("event = 'paused'") == ["paused as in the former ledger"])
        try await fixture.ledger.setRules(rules)
        let waits = try await fixture.ledger.destinationWaits(at: fixture.time.now)
        #expect(waits[.archive]?.quotaFreeAt == fixture.time.now.advanced(by: .seconds(100)))
        #expect(try await fixture.ledger.audit()?.findings == [])
      }
    }
  }

  @Test("What was open is not published before its moment there, when a person has it tried again")
  func moment() async throws {
    try await LedgerFixture.with { former in
      let added = try await former.add(1)
      var order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [added.localIdentifier],
        isAutomatic: false
      )
      let moment = former.time.now.advanced(by: .seconds(60))
      order.publishAt = moment
      let handoff = try await former.ledger.create(order).handoff
      let asset = try #require(try await former.ledger.asset(added.localIdentifier))
      try await LedgerFixture.with { fixture in
        try await fixture.ledger.restore([asset])
        let moments = [handoff.id: moment]
        #expect(try await fixture.ledger.carryOver([handoff], publishAt: moments) == 1)
        let again = try await fixture.ledger.retry(handoff.id)
        #expect(again.waiting == Handoff.Waiting(.publishAt, until: moment))
        #expect(try await fixture.claim().isEmpty)
      }
    }
  }

  @Test("One that had failed under a key that is lost is answered when it is tried again")
  func failedUnderAnotherKey() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.submitted()
      _ = try await fixture.answer(sent, .failure(ResultError(.auth, "no", effect: .none)))
      let copy = try await BackupCopy.make(of: fixture, 1)
      let ledger = try await copy.open(fixture, withKeyOf: nil)
      _ = try await ledger.takeUp(restoredAt: fixture.time.now, hasNewKey: true, handoffsAfter: 10)
      _ = try await ledger.retry(sent.handoff.id)
      let claim = try #require(
        try await ledger.claim(destination: .archive, limit: 1, lease: .seconds(9)).first
      )
      try await ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
      let result = HandoffResult(state: claim.request.state, outcome: .success(output: [:]))
      let answer = try await ledger.consume(result, from: .archive, retry: .hour, jitter: 1)
      #expect(answer.name == "applied")
      try await ledger.close()
    }
  }

  @Test("An asset that came back after the backup, without its bytes, is no finding of an audit")
  func cameBackMissing() async throws {
    try await LedgerFixture.with { fixture in
      for (number, status) in [Asset.Status.unavailable, .damaged, .present].enumerated() {
        let name = try await fixture.add(number).localIdentifier
        _ = try await fixture.ledger.delete(name, force: true, reason: "test")
        try await fixture.ledger.setStatus(status, of: name)
      }
      #expect(try await fixture.ledger.audit()?.findings == [])
    }
  }

  @Test("A ledger of an older release can be backed up and proven before the newer one opens it")
  func older() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      try fixture.tamper("DROP TABLE pruned_events; PRAGMA user_version = 12")
      let copy = try await BackupCopy.make(of: fixture, 1)
      #expect(copy.contents.schema == 12)
      #expect(try await copy.stage(fixture) == .stateFolder)
      let reader = try await Ledger.openForReading(directory: fixture.directory)
      let position = try await reader.position()
      #expect(try await reader.verifyChain() == .intact(events: position.event))
      try await reader.close()
    }
  }
}
