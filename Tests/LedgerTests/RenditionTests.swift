import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("Renditions in the ledger", .timeLimit(.minutes(2)))
struct RenditionTests {
  private func rendition(_ number: Int, at time: Timestamp) throws -> Rendition {
    let content = try sampleAsset(number, at: time)
    return Rendition(
      name: .proxy,
      digest: content.digest,
      size: content.size,
      fileExtension: "mp4",
      facts: number.isMultiple(of: 2) ? content.facts : nil,
      registeredBy: .archive,
      registeredAt: time
    )
  }

  @Test("The same bytes are the same, others take their place, and both are in the asset's history")
  func registering() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      let (id, name) = (claimed.handoff.id, claimed.handoff.localIdentifiers[0])
      let first = try rendition(100, at: fixture.time.now)
      let second = try rendition(101, at: fixture.time.now)
      #expect(try await fixture.ledger.register(first, of: name, under: id))
      #expect(try await !fixture.ledger.register(first, of: name, under: id))
      #expect(try await fixture.ledger.asset(name)?.renditions == [first])
      #expect(try await fixture.ledger.statuses(of: [first.digest]) == [first.digest: .present])
      #expect(try await fixture.ledger.register(second, of: name, under: id))
      #expect(try await fixture.ledger.asset(name)?.renditions == [second])
      // Nobody's any more, so that it is cleared.
      #expect(try await fixture.ledger.statuses(of: [first.digest]).isEmpty)
      let events = try await fixture.ledger.history(of: id).map(\.kind)
      #expect(events.contains("rendition_registered"))
      #expect(events.contains("rendition_replaced"))
      _ = try await fixture.answer(claimed, .success(output: [:]))
      await #expect(throws: LedgerError.hasEnded(id, .succeeded)) {
        try await fixture.ledger.register(first, of: name, under: id)
      }
    }
  }

  @Test("A destination that uses a rendition gets it once those it waits for are through")
  func used() async throws {
    try await LedgerFixture.with { fixture in
      let order = HandingOrder([.social: [.archive]], use: .proxy)
      try await fixture.ledger.reconsiderAfter(order)
      let made = try await fixture.add(1, to: [.archive, .social])
      let archive = try #require(try await fixture.claim().first)
      try await fixture.submit(archive)
      let proxy = try rendition(100, at: fixture.time.now)
      try await fixture.ledger.register(
        proxy,
        of: made.localIdentifier,
        under: archive.handoff.id
      )
      #expect(try await fixture.handoff(made.created[1]).waiting?.reason == .after)
      _ = try await fixture.answer(archive, .success(output: [:]))
      #expect(try await fixture.claim(.social).map(\.handoff.id) == [made.created[1]])

      // The other way round: those have succeeded, and it was never made.
      let bare = try await fixture.add(2, to: [.archive, .social])
      let second = try #require(try await fixture.claim().first)
      try await fixture.submit(second)
      _ = try await fixture.answer(second, .success(output: [:]))
      let failed = try await fixture.handoff(bare.created[1])
      #expect(failed.status == .failed)
      #expect(failed.error?.code == .dependencyFailed)
      #expect(failed.error?.message.contains("no rendition proxy") == true)
    }
  }

  @Test("What reading one again has shown is known until it is registered anew")
  func readings() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      let (id, name) = (claimed.handoff.id, claimed.handoff.localIdentifiers[0])
      let proxy = try rendition(100, at: fixture.time.now)
      try await fixture.ledger.register(proxy, of: name, under: id)
      #expect(try await fixture.ledger.recordReading(of: name, proxy, .damaged) == .present)
      #expect(try await fixture.ledger.asset(name)?.renditions.first?.status == .damaged)
      #expect(try await fixture.ledger.recordReading(of: name, proxy, .missing) == .damaged)
      try await fixture.ledger.register(proxy, of: name, under: id)
      #expect(try await fixture.ledger.asset(name)?.renditions.first?.status == .present)
      let other = try rendition(101, at: fixture.time.now)
      #expect(try await fixture.ledger.recordReading(of: name, other, .damaged) == nil)
    }
  }

  @Test("They go with their asset, and a rebuilt ledger has them again")
  func goingAndComing() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      let name = claimed.handoff.localIdentifiers[0]
      let proxy = try rendition(100, at: fixture.time.now)
      try await fixture.ledger.register(proxy, of: name, under: claimed.handoff.id)
      let other = try await fixture.add(2).localIdentifier
      #expect(try await fixture.ledger.isNeeded(proxy.digest, besides: other))
      #expect(try await !fixture.ledger.isNeeded(proxy.digest, besides: name))
      let asset = try #require(try await fixture.ledger.asset(name))
      _ = try await fixture.ledger.delete(name, force: true, reason: "test")
      #expect(try await fixture.ledger.statuses(of: [proxy.digest]).isEmpty)
      try await fixture.ledger.recordRemoval(of: name)
      #expect(try await fixture.ledger.asset(name)?.renditions.isEmpty == true)
      try await LedgerFixture.with { rebuilt in
        try await rebuilt.ledger.restore([asset])
        #expect(try await rebuilt.ledger.asset(name)?.renditions == [proxy])
      }
    }
  }
}

extension RenditionName {
  static var proxy: RenditionName {
    guard let name = RenditionName("proxy") else { preconditionFailure("proxy is no name") }
    return name
  }
}
