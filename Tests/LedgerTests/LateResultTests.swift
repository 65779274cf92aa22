import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("Late results and allowances", .timeLimit(.minutes(2)))
struct LateResultTests {
  @Test("42: at the edge of its time a handoff has exactly one of two ends, 200 times")
  func edge() async throws {
    try await LedgerFixture.with { fixture in
      var ends: Set<HandoffStatus> = []
      for number in 1...200 {
        let ceiling = fixture.time.now.advanced(by: .seconds(3))
        let sent = try await fixture.submitted(number, ceiling: ceiling)
        // From 20 ms before the moment to 20 ms after it, while the clock goes on.
        fixture.time.advance(.milliseconds(2980 + number % 41))
        let name = try await withThrowingTaskGroup(of: String?.self) { group in
          group.addTask { try await fixture.answer(sent, .success(output: [:])).name }
          group.addTask {
            fixture.time.advance(.milliseconds(number % 3))
            _ = try await fixture.ledger.expireDue()
            return nil
          }
          return try await group.reduce(nil) { $0 ?? $1 }
        }
        fixture.time.advance(.seconds(1))
        #expect(try await fixture.ledger.expireDue().isEmpty)
        let handoff = try await fixture.handoff(sent.handoff.id)
        ends.insert(handoff.status)
        switch handoff.status {
        case .succeeded:
          #expect(name == "applied")
          #expect(handoff.lateResults == 0)
        case .expired:
          #expect(name == "late")
          #expect(handoff.lateResults == 1)
        default: Issue.record("\(handoff.status)")
        }
        let kinds = try await fixture.ledger.history(of: sent.handoff.id).map(\.kind)
        #expect(kinds.count { $0 == "succeeded" || $0 == "expired" } == 1)
      }
      #expect(ends == [.succeeded, .expired])
    }
  }

  @Test("late results are listed with their times, kinds and outputs, in the order they came")
  func listed() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: .expired)
      let start = fixture.time.now
      _ = try await fixture.answer(sent, .failure(.busy))
      fixture.time.advance(.seconds(1))
      _ = try await fixture.answer(sent, .success(output: ["id": .string("7")]))
      let late = try await fixture.ledger.lateResults(of: sent.handoff.id)
      #expect(late.map(\.kind) == ["failure", "success"])
      #expect(late.map(\.at) == [start, start.advanced(by: .seconds(1))])
      #expect(late.first?.errorCode == .network)
      #expect(late.first?.errorMessage == "no route")
      #expect(late.last?.output == ["id": .string("7")])
      let other = try await fixture.standing(at: .succeeded, 2)
      #expect(try await fixture.ledger.lateResults(of: other.handoff.id).isEmpty)
    }
  }

  @Test(
    "what comes by itself for a destination that is gone is kept late, and can be adopted",
    arguments: [HandoffStatus.outcomeUnknown, .cancelled]
  )
  func orphaned(_ status: HandoffStatus) async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      let result = HandoffResult(
        state: sent.request.state,
        outcome: .success(output: ["id": .string("7")])
      )
      let foreign = try await fixture.ledger.consumeUnverified(
        result,
        of: [.social: .hour],
        configured: [.social, .archive],
        jitter: 1
      )
      #expect(foreign.name == "wrongDestination")
      let kept = try await fixture.ledger.consumeUnverified(
        result,
        of: [.social: .hour],
        configured: [.social],
        jitter: 1
      )
      #expect(kept.name == "late")
      let handoff = try await fixture.handoff(sent.handoff.id)
      #expect(handoff.status == status)
      #expect(handoff.lateResults == 1)
      // A person cancelled the other: that end is what is verified.
      #expect(handoff.isVerified == (status == .cancelled))
      let adopted = try await fixture.ledger.adopt(sent.handoff.id)
      #expect(adopted.status == .succeeded)
      #expect(adopted.output == ["id": .string("7")])
    }
  }

  @Test("a token tells its handoff, whoever brings it, and a forged one nothing")
  func holder() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: .accepted)
      let found = try await fixture.ledger.handoff(of: sent.request.state)
      #expect(found?.id == sent.handoff.id)
      #expect(found?.destination == .archive)
      let forged = "\(sent.handoff.id.row)." + String(repeating: "A", count: 43)
      let state = try #require(StateToken(forged))
      #expect(try await fixture.ledger.handoff(of: state) == nil)
    }
  }

  @Test("an allowance is for one asset and one destination, is recorded once, and stays")
  func allowance() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.add(1).localIdentifier
      let second = try await fixture.add(2).localIdentifier
      #expect(try await !fixture.ledger.isAllowed(first, to: .archive))
      #expect(try await fixture.ledger.allow(first, to: .archive))
      #expect(try await !fixture.ledger.allow(first, to: .archive))
      #expect(try await fixture.ledger.isAllowed(first, to: .archive))
      #expect(try await !fixture.ledger.isAllowed(first, to: .social))
      #expect(try await !fixture.ledger.isAllowed(second, to: .archive))
      let kinds = try await fixture.ledger.history(of: first).map(\.kind)
      #expect(kinds == ["imported", "allowed"])
      let unknown = LocalIdentifier(try #require(ContentDigest([UInt8](repeating: 9, count: 32))))
      await #expect(throws: LedgerError.unknownAsset(unknown)) {
        try await fixture.ledger.allow(unknown, to: .archive)
      }
    }
  }
}
