import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("One asset and one destination", .timeLimit(.minutes(2)))
struct PairTests {
  private func order(_ identifier: LocalIdentifier) -> HandoffOrder {
    HandoffOrder(destination: .archive, localIdentifiers: [identifier], isAutomatic: false)
  }

  private func isRefused(
    _ fixture: LedgerFixture,
    _ identifier: LocalIdentifier,
    for id: Handoff.ID
  ) async throws {
    let status = try await fixture.handoff(id).status
    await #expect(throws: LedgerError.alreadySucceeded(id, status)) {
      try await fixture.ledger.create(order(identifier))
    }
  }

  @Test("A pair with an open handoff, in whatever state, is handed off once more only on purpose")
  func open() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      let id = try await fixture.ledger.create(order(identifier)).handoff.id
      try await isRefused(fixture, identifier, for: id)
      let claimed = try #require(try await fixture.claim().first)
      try await isRefused(fixture, identifier, for: id)
      try await fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID)
      try await isRefused(fixture, identifier, for: id)
      try await fixture.ledger.recordAcceptance(id)
      try await isRefused(fixture, identifier, for: id)
      _ = try await fixture.ledger.recordBrokerFailure(id, .crashed)
      try await isRefused(fixture, identifier, for: id)
      _ = try await fixture.ledger.recordNeedOfUser(id)
      try await isRefused(fixture, identifier, for: id)
      #expect(try await fixture.ledger.create(order(identifier), again: true).isNew)
    }
  }

  @Test("A pair whose handoff ended with nothing done is free again")
  func free() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      _ = try await fixture.ledger.cancel(
        try await fixture.ledger.create(order(identifier)).handoff.id
      )
      for code in [ErrorCode.unsupportedMedia, .auth] {
        let id = try await fixture.ledger.create(order(identifier)).handoff.id
        _ = try await fixture.ledger.recordBrokerFailure(id, ResultError(code, "", effect: .none))
        #expect(try await fixture.handoff(id).status.isFinal)
      }
      var expiring = order(identifier)
      expiring.expiresAt = fixture.time.now.advanced(by: .seconds(1))
      _ = try await fixture.ledger.create(expiring)
      fixture.time.advance(.seconds(1))
      #expect(try await fixture.ledger.expireDue().map(\.error?.effect) == [Effect.none])
      #expect(try await fixture.ledger.create(order(identifier)).isNew)
    }
  }

  @Test("A pair whose handoff may have happened, or has in part, is not free")
  func doubtful() async throws {
    try await LedgerFixture.with { fixture in
      let ceiling = fixture.time.now.advanced(by: .seconds(1))
      let expired = try await fixture.submitted(1, ceiling: ceiling).handoff
      fixture.time.advance(.seconds(1))
      _ = try await fixture.ledger.expireDue()
      try await isRefused(fixture, expired.localIdentifiers[0], for: expired.id)
      let failed = try await fixture.submitted(2)
      let partly = ResultError(.network, "published, then lost", effect: .applied)
      _ = try await fixture.answer(failed, .failure(partly))
      let identifier = failed.handoff.localIdentifiers[0]
      try await isRefused(fixture, identifier, for: failed.handoff.id)
    }
  }

  @Test("An import makes no handoff of a pair that was ordered by hand and may still succeed")
  func orderedByHand() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1, folder: Sighting.byHand).localIdentifier
      let id = try await fixture.ledger.create(order(identifier)).handoff.id
      #expect(try await fixture.add(1, to: [.archive]).created.isEmpty)
      let claimed = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID)
      _ = try await fixture.answer(claimed, .success(output: [:]))
      #expect(try await fixture.add(1, to: [.archive]).created.isEmpty)
      // What failed by hand does not stand in the way.
      let second = try await fixture.add(2, folder: Sighting.byHand).localIdentifier
      _ = try await fixture.ledger.cancel(
        try await fixture.ledger.create(order(second)).handoff.id
      )
      #expect(try await fixture.add(2, to: [.archive]).created.count == 1)
    }
  }
}
