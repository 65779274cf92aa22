import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Testing

@Suite("Cancelling in every status", .timeLimit(.minutes(2)))
struct CancelTests {
  @Test(
    "what was sent to a receiver that can be asked stays open until its answer",
    arguments: [HandoffStatus.submitted, .accepted, .needsUser, .outcomeUnknown]
  )
  func asked(_ status: HandoffStatus) async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      let id = sent.handoff.id
      let wished = try await fixture.ledger.cancel(id) { _ in .receiver }
      #expect(wished.status == status)
      #expect(wished.cancelRequestedAt == fixture.time.now)
      #expect(
        try await fixture.ledger.cancelWishes(destination: .archive).map(\.handoff.id) == [id]
      )
      #expect(try await fixture.ledger.cancelWishes(destination: .social).isEmpty)
      // A second wish is a new one, even within one millisecond: the receiver is asked again.
      let again = try await fixture.ledger.cancel(id) { _ in .receiver }
      #expect(try #require(again.cancelRequestedAt) > fixture.time.now)
      let kinds = try await fixture.ledger.history(of: id).map(\.kind)
      #expect(kinds.count { $0 == "cancel_requested" } == 2)
      // It was done already: that counts.
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "applied")
      let done = try await fixture.handoff(id)
      #expect(done.status == .succeeded)
      #expect(done.cancelRequestedAt == nil)
      await #expect(throws: LedgerError.hasEnded(id, .succeeded)) {
        try await fixture.ledger.cancel(id)
      }
    }
  }

  @Test(
    "what was sent and can be told nobody is cancelled, and may still happen",
    arguments: [HandoffStatus.submitted, .accepted, .needsUser, .outcomeUnknown]
  )
  func untold(_ status: HandoffStatus) async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      let cancelled = try await fixture.ledger.cancel(sent.handoff.id) { _ in .nobody }
      #expect(cancelled.status == .cancelled)
      #expect(cancelled.result == "cancelled")
      #expect(cancelled.error?.effect == .unknown)
      #expect(cancelled.error?.message.contains("may still happen") == true)
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "late")
      #expect(try await fixture.ledger.adopt(sent.handoff.id).status == .succeeded)
    }
  }

  @Test(
    "what was not sent ends at once, with nothing done",
    arguments: [HandoffStatus.pending, .leased]
  )
  func unsent(_ status: HandoffStatus) async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: status)
      let cancelled = try await fixture.ledger.cancel(sent.handoff.id) { _ in .receiver }
      #expect(cancelled.status == .cancelled)
      #expect(cancelled.error == nil)
      await #expect(throws: LedgerError.leaseLost(sent.handoff.id)) {
        try await fixture.ledger.recordSubmission(sent.handoff.id, leaseID: sent.leaseID)
      }
    }
  }

  @Test(
    "what has ended is not cancelled, and is said to have ended how",
    arguments: HandoffStatus.allCases.filter(\.isFinal)
  )
  func ended(_ status: HandoffStatus) async throws {
    try await LedgerFixture.with { fixture in
      let id = try await fixture.standing(at: status).handoff.id
      let error = await #expect(throws: LedgerError.self) { try await fixture.ledger.cancel(id) }
      #expect(error == .hasEnded(id, status))
      #expect(error?.description.contains(status.rawValue) == true)
    }
  }

  @Test("what failed and left nothing behind is not tried again if it was to be cancelled")
  func noRetry() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.standing(at: .accepted)
      _ = try await fixture.ledger.cancel(sent.handoff.id) { _ in .receiver }
      #expect(try await fixture.answer(sent, .failure(.busy)).name == "applied")
      let handoff = try await fixture.handoff(sent.handoff.id)
      #expect(handoff.status == .cancelled)
      #expect(handoff.result == "cancelled")
      #expect(handoff.error?.effect == Effect.none)

      let second = try await fixture.standing(at: .outcomeUnknown, 2)
      _ = try await fixture.ledger.cancel(second.handoff.id) { _ in .receiver }
      let told = try await fixture.ledger.recordKnowledge(second.handoff.id, .notReceived)
      #expect(told.status == .cancelled)
      #expect(told.error == nil)
    }
  }

  @Test("a receiver that cannot tell, or has ended it meanwhile, ends the wish")
  func uncertain() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.standing(at: .accepted)
      _ = try await fixture.ledger.cancel(first.handoff.id) { _ in .receiver }
      let ended = try await fixture.ledger.recordUncertainCancel(first.handoff.id, .noAnswer)
      #expect(ended.status == .cancelled)
      #expect(ended.error?.effect == .unknown)
      #expect(ended.error?.message.contains("the receiver was asked") == true)

      let second = try await fixture.standing(at: .accepted, 2)
      _ = try await fixture.ledger.cancel(second.handoff.id) { _ in .receiver }
      _ = try await fixture.answer(second, .success(output: [:]))
      #expect(
        try await fixture.ledger.recordUncertainCancel(second.handoff.id).status == .succeeded
      )
    }
  }

  @Test("a process that was ended carries the wish out, and is not said to be asked")
  func processEnded() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await fixture.standing(at: .accepted).handoff.id
      _ = try await fixture.ledger.cancel(id) { _ in .receiver }
      _ = try await fixture.ledger.recordBrokerFailure(id, .crashed, endsWish: true)
      let unknown = try await fixture.handoff(id)
      #expect(unknown.status == .outcomeUnknown)
      #expect(unknown.cancelRequestedAt == nil)
      #expect(unknown.side == .broker)
      let cancelled = try await fixture.ledger.cancel(id) { _ in .ended }
      #expect(cancelled.error?.message.contains("process had ended") == true)
    }
  }

  @Test("a wish outlives the broker, and another attempt ends it")
  func restart() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let first = try await LedgerFixture.open(directory)
      let sent = try await first.standing(at: .outcomeUnknown)
      let id = sent.handoff.id
      _ = try await first.ledger.cancel(id) { _ in .receiver }
      try await first.ledger.close()
      let second = try await LedgerFixture.open(directory, time: first.time)
      let wishes = try await second.ledger.cancelWishes(destination: .archive)
      #expect(wishes.map(\.request.state.revealed) == [sent.request.state.revealed])
      #expect(try await second.ledger.retry(id).cancelRequestedAt == nil)
      #expect(try await second.ledger.cancelWishes(destination: .archive).isEmpty)
      try await second.ledger.close()
    }
  }

  @Test("of a wish and a result at one instant, exactly one ends it, 500 times")
  func race() async throws {
    try await LedgerFixture.with { fixture in
      let count = 500
      for number in 1...count { try await fixture.add(number, to: [.archive]) }
      let claimed = try await fixture.claim(limit: count)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for sent in claimed {
          let id = sent.handoff.id
          try await fixture.ledger.recordSubmission(id, leaseID: sent.leaseID)
          group.addTask { _ = try? await fixture.ledger.cancel(id) }
          group.addTask { _ = try await fixture.answer(sent, .success(output: [:])) }
        }
        try await group.waitForAll()
      }
      for sent in claimed {
        let handoff = try await fixture.handoff(sent.handoff.id)
        #expect((handoff.status == .succeeded) == (handoff.lateResults == 0))
        #expect((handoff.status == .cancelled) == (handoff.lateResults == 1))
      }
    }
  }

  @Test("a need of a person is recorded once, kept over a restart, and ends with the next progress")
  func need() async throws {
    try await LedgerFixture.with { fixture in
      let id = try await fixture.standing(at: .accepted).handoff.id
      for _ in 1...2 { _ = try await fixture.ledger.recordNeedOfUser(id, "sign in") }
      #expect(try await fixture.handoff(id).userNeed == "sign in")
      _ = try await fixture.ledger.recordNeedOfUser(id, "make room")
      #expect(try await fixture.handoff(id).userNeed == "make room")
      let open = try await fixture.ledger.openHandoffs(destination: .archive)
      #expect(open.map(\.handoff.status) == [.needsUser])
      #expect(try await fixture.ledger.recoverAtStart().map(\.handoff.id) == [id])
      let done = try await fixture.ledger.recordUserDone(id)
      #expect(done.status == .accepted)
      #expect(done.userNeed == nil)
      let kinds = try await fixture.ledger.history(of: id).map(\.kind)
      #expect(kinds.suffix(3) == ["needs_user", "needs_user", "accepted"])
    }
  }
}
