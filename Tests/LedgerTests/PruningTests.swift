import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Paths
import SQLite
import Testing

@Suite("Pruning of old handoffs", .timeLimit(.minutes(2)))
struct PruningTests {
  @Test("Case 75: old handoffs go away in pieces, and the chain can still be proven")
  func pieces() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...40 { try await ended(number, fixture) }
      fixture.time.advance(.seconds(100))
      for number in 41...45 { try await ended(number, fixture) }
      let cutoff = fixture.time.now.advanced(by: .seconds(-50))
      let steps = try await prune(fixture, before: cutoff, limit: 7)
      #expect(steps.map(\.handoffs).reduce(0, +) == 40)
      #expect(steps.allSatisfy { $0.handoffs <= 7 })
      #expect(try await fixture.ledger.handoffs().count == 5)
      let audit = try #require(try await fixture.ledger.audit())
      #expect(audit.findings == [])
      // Of each handoff its four events; the assets' own stay.
      #expect(audit.prunedEvents == 40 * 4)
      #expect(audit.handoffs == 5)
      #expect(audit.assets == 45)
      guard case .intact = try await fixture.ledger.verifyChain() else {
        Issue.record("the chain is broken")
        return
      }
      #expect(try await prune(fixture, before: cutoff).allSatisfy { $0.handoffs == 0 })
    }
  }

  @Test("What was handed off automatically is not so again once its handoff is pruned")
  func notTwice() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await ended(1, fixture)
      fixture.time.advance(.seconds(100))
      _ = try await prune(fixture, before: fixture.time.now)
      #expect(try await fixture.ledger.handoff(id) == nil)
      // Seen under another name.
      let again = try await fixture.add(1, path: "/exports/other.mp4", to: [.archive, .social])
      #expect(again.created.count == 1)
      let asset = again.localIdentifier
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [asset],
        isAutomatic: false
      )
      await #expect(throws: LedgerError.alreadySucceeded(id, .succeeded)) {
        _ = try await fixture.ledger.create(order)
      }
      let past = try await fixture.ledger.pastHandoffs(ofAsset: asset)
      #expect(past.map(\.id) == [id])
      #expect(past.first?.status == .succeeded)
    }
  }

  @Test("A place whose event was pruned was passed, also behind an event that stays")
  func passed() async throws {
    try await LedgerFixture.with { fixture in
      try await ended(1, fixture)
      let place = try await fixture.ledger.position()
      try await ended(2, fixture)
      fixture.time.advance(.seconds(100))
      _ = try await prune(fixture, before: fixture.time.now)
      #expect(try await fixture.ledger.handoffs().isEmpty)
      #expect(try await fixture.ledger.hasPassed(place))
      let another = LedgerPosition(event: place.event, code: "00")
      #expect(try await !fixture.ledger.hasPassed(another))
      let later = LedgerPosition(event: place.event + 1000, code: "00")
      #expect(try await !fixture.ledger.hasPassed(later))
    }
  }

  @Test("A failure with nothing left behind is forgotten, so that a person may send again")
  func failedMayBeSent() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted(1)
      let no = ResultError(.receiverFailed, "no", effect: .none)
      _ = try await fixture.answer(claimed, .failure(no))
      fixture.time.advance(.seconds(100))
      _ = try await prune(fixture, before: fixture.time.now)
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: claimed.handoff.localIdentifiers,
        isAutomatic: false
      )
      _ = try await fixture.ledger.create(order)
      #expect(try await fixture.add(1, path: "/exports/b.mp4", to: [.archive]).created == [])
    }
  }

  @Test("Open handoffs, those beside them and late results that nobody adopted stay")
  func kept() async throws {
    try await LedgerFixture.with { fixture in
      let done = try await ended(1, fixture)
      try await fixture.add(1, path: "/exports/b.mp4", to: [.social])
      let late = try await fixture.standing(at: .expired, 2)
      _ = try await fixture.answer(late, .success(output: [:]))
      let gone = try await ended(3, fixture)
      fixture.time.advance(.seconds(100))
      _ = try await prune(fixture, before: fixture.time.now)
      #expect(try await fixture.ledger.handoff(done) != nil)
      #expect(try await fixture.ledger.handoff(late.handoff.id) != nil)
      #expect(try await fixture.ledger.handoff(gone) == nil)
    }
  }

  @Test("A ledger whose end was pruned opens again")
  func opensAgain() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      for number in 1...3 { try await ended(number, fixture) }
      fixture.time.advance(.seconds(100))
      // The head file is as old as after a power cut.
      let head = try FileBytes.read(directory.appending("ledger.head"))
      _ = try await prune(fixture, before: fixture.time.now)
      try await fixture.ledger.close()
      try FileBytes.write(head, to: directory.appending("ledger.head"))
      let again = try await LedgerFixture.open(directory, time: fixture.time)
      #expect(try await again.ledger.audit()?.findings == [])
      try await again.ledger.close()
    }
  }

  @Test("Events that were tampered with are not pruned away")
  func refusesTampered() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...3 { try await ended(number, fixture) }
      fixture.time.advance(.seconds(100))
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try connection.execute("DROP TRIGGER events_unchanged")
      try connection.execute("UPDATE events SET detail = 'nothing' WHERE seq = 4")
      try connection.close()
      let error = await #expect(throws: PruningRefused.self) {
        _ = try await prune(fixture, before: fixture.time.now)
      }
      #expect(error?.sequence == 4)
      #expect(try await fixture.ledger.handoffs().count == 3)
    }
  }

  @Test("A run of pruned events cannot be invented")
  func invented() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...3 { try await ended(number, fixture) }
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try connection.execute(
        """
        INSERT INTO pruned_events (first, last, before, after, mac)
          SELECT 3, 4, (SELECT mac FROM events WHERE seq = 2),
            (SELECT mac FROM events WHERE seq = 4), zeroblob (32);
        DELETE FROM events WHERE seq IN (3, 4);
        """
      )
      try connection.close()
      let findings = try #require(try await fixture.ledger.audit()).findings
      #expect(findings.contains { $0.kind == .inventedPruning && $0.first == 3 && $0.last == 4 })
    }
  }

  /// A handoff that has succeeded, of content of its own.
  @discardableResult
  private func ended(_ number: Int, _ fixture: LedgerFixture) async throws -> Handoff.ID {
    let claimed = try await fixture.submitted(number)
    let url = JSONValue.string("https://example.net/\(number)")
    _ = try await fixture.answer(claimed, .success(output: ["url": url]))
    return claimed.handoff.id
  }

  @discardableResult
  private func prune(
    _ fixture: LedgerFixture,
    before cutoff: Timestamp,
    limit: Int = 100
  ) async throws -> [PruningStep] {
    var steps: [PruningStep] = []
    repeat {
      steps.append(
        try await fixture.ledger.prune(
          endedBefore: cutoff,
          after: steps.last?.next,
          limit: limit
        )
      )
    } while steps.last?.next != nil
    return steps
  }
}
