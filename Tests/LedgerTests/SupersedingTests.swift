import HandoffCore
import HandoffProtocol
import Ledger
import Paths
import Testing

@Suite("Superseded assets", .timeLimit(.minutes(2)))
struct SupersedingTests {
  private let path: BytePath = "/exports/a.mp4"

  @Test("What was held goes on when its content is at the path again")
  func returning() async throws {
    try await LedgerFixture.with { fixture in
      let first = try #require(try await fixture.add(1, path: path, to: [.archive]).created.first)
      let second = try #require(try await fixture.add(2, path: path, to: [.archive]).created.first)
      let third = try #require(try await fixture.add(3, path: path, to: [.archive]).created.first)
      #expect(try await fixture.handoff(first).waiting == .init(.superseded))
      let back = try await fixture.add(1, path: path, to: [.archive])
      #expect(back.created.isEmpty)
      #expect(try await fixture.handoff(first).waiting == nil)
      for older in [second, third] {
        #expect(try await fixture.handoff(older).waiting == .init(.superseded))
      }
      let asset = try #require(try await fixture.ledger.asset(back.localIdentifier))
      #expect(asset.supersededBy == nil)
      #expect(try await fixture.claim(limit: 10).map(\.handoff.id) == [first])
    }
  }

  @Test("What goes on waits for the moment at which it is to be published")
  func publishAt() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1, path: path).localIdentifier
      var order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [identifier],
        isAutomatic: false
      )
      let moment = fixture.time.now.advanced(by: .seconds(600))
      order.publishAt = moment
      let id = try await fixture.ledger.create(order).handoff.id
      try await fixture.add(2, path: path)
      #expect(try await fixture.handoff(id).waiting == .init(.superseded))
      try await fixture.add(1, path: path)
      #expect(try await fixture.handoff(id).waiting == .init(.publishAt, until: moment))
      #expect(try await fixture.claim().isEmpty)
      fixture.time.advance(.seconds(600))
      #expect(try await fixture.claim().map(\.handoff.id) == [id])
    }
  }

  @Test("A handoff of several assets goes on only when none of them is superseded")
  func several() async throws {
    try await LedgerFixture.with { fixture in
      var identifiers: [LocalIdentifier] = []
      for number in 1...2 { identifiers.append(try await fixture.add(number).localIdentifier) }
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: identifiers,
        isAutomatic: false
      )
      let id = try await fixture.ledger.create(order).handoff.id
      for number in 1...2 {
        try await fixture.add(10 + number, path: BytePath("/exports/\(number).mp4"))
      }
      try await fixture.add(1)
      #expect(try await fixture.handoff(id).waiting == .init(.superseded))
      try await fixture.add(2)
      #expect(try await fixture.handoff(id).waiting == nil)
    }
  }

  @Test("What was under way when it was superseded is held if it comes back with nothing done")
  func underWay() async throws {
    try await LedgerFixture.with { fixture in
      let failing = try await claimed(fixture, 1, submitted: true)
      let unreceived = try await claimed(fixture, 2, submitted: true).handoff.id
      let released = try await claimed(fixture, 3, submitted: false)
      let stale = try await claimed(fixture, 4, submitted: false).handoff.id
      for number in 1...4 {
        try await fixture.add(10 + number, path: BytePath("/exports/\(number).mp4"))
      }
      #expect(try await fixture.answer(failing, .failure(.busy)).name == "applied")
      _ = try await fixture.ledger.recordKnowledge(unreceived, .notReceived)
      try await fixture.ledger.release(released.handoff.id, leaseID: released.leaseID)
      fixture.time.advance(.seconds(7200))
      _ = try await fixture.ledger.expireDue()
      let ids = [failing.handoff.id, unreceived, released.handoff.id, stale]
      for id in ids {
        #expect(try await fixture.handoff(id).waiting == .init(.superseded))
      }
      #expect(try await fixture.claim(limit: 10).isEmpty)
      for number in 1...4 { try await fixture.add(number) }
      #expect(try await Set(fixture.claim(limit: 10).map(\.handoff.id)) == Set(ids))
    }
  }

  @Test("A folder that does not hold lets it be tried again, and so does a person's wish")
  func notHeld() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await claimed(fixture, 1, submitted: true)
      try await fixture.add(11, path: "/exports/1.mp4", onSupersede: .both)
      #expect(try await fixture.answer(first, .failure(.busy)).name == "retried")

      let second = try await claimed(fixture, 2, submitted: true)
      try await fixture.add(12, path: "/exports/2.mp4")
      _ = try await fixture.ledger.recordKnowledge(second.handoff.id, .unknown)
      _ = try await fixture.ledger.retry(second.handoff.id)
      let again = try #require(try await fixture.claim().first)
      #expect(again.handoff.id == second.handoff.id)
      try await fixture.ledger.recordSubmission(again.handoff.id, leaseID: again.leaseID)
      #expect(try await fixture.answer(again, .failure(.busy)).name == "retried")

      let third = try #require(try await fixture.add(3, to: [.social]).created.first)
      try await fixture.add(13, path: "/exports/3.mp4")
      #expect(try await fixture.ledger.endWaiting(.superseded, destination: .social) == 1)
      let claim = try #require(try await fixture.claim(.social).first)
      try await fixture.ledger.recordSubmission(third, leaseID: claim.leaseID)
      #expect(try await fixture.answer(claim, .failure(.busy), from: .social).name == "retried")
    }
  }

  @Test("An asset that is sent by hand although it is superseded is tried again")
  func sentAnyway() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      try await fixture.add(2, path: "/exports/1.mp4")
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [identifier],
        isAutomatic: false
      )
      let id = try await fixture.ledger.create(order).handoff.id
      let claim = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(id, leaseID: claim.leaseID)
      #expect(try await fixture.answer(claim, .failure(.busy)).name == "retried")
    }
  }

  private func claimed(
    _ fixture: LedgerFixture,
    _ number: Int,
    submitted: Bool
  ) async throws -> ClaimedHandoff {
    if submitted { return try await fixture.submitted(number) }
    try await fixture.add(number, to: [.archive])
    return try #require(try await fixture.claim().first)
  }
}
