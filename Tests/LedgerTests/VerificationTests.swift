import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("Handoffs looked at again", .timeLimit(.minutes(2)))
struct VerificationTests {
  @Test("What a submission gave is known by it, whatever becomes of the asset and its renditions")
  func delivered() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      let made = try await fixture.add(1, to: [.archive])
      let claimed = try #require(try await fixture.claim().first)
      let (id, name) = (claimed.handoff.id, made.localIdentifier)
      let content = try sampleAsset(100, at: fixture.time.now)
      let proxy = Rendition(
        name: .proxy,
        digest: content.digest,
        size: content.size,
        fileExtension: "mp4",
        facts: content.facts,
        registeredBy: .archive,
        registeredAt: fixture.time.now
      )
      var asset = try #require(try await ledger.asset(name))
      let original = DeliveredAsset(
        localIdentifier: name,
        sha256: asset.digest,
        size: asset.size
      )
      #expect(try await ledger.delivered(of: claimed.handoff) == [original])
      asset.renditions = [proxy]
      try await ledger.recordSubmission(
        id,
        leaseID: claimed.leaseID,
        given: [try #require(asset.given(as: .proxy))]
      )
      _ = try await fixture.answer(claimed, .success(output: [:]))
      _ = try await ledger.delete(name, force: true, reason: "test")
      let given = DeliveredAsset(localIdentifier: name, sha256: proxy.digest, size: proxy.size)
      #expect(try await ledger.delivered(of: fixture.handoff(id)) == [given])
      #expect(try await ledger.verifiable(at: .archive).map(\.bytes) == [proxy.size])
    }
  }

  @Test("Those that were never looked at come first, then the longest ago; each look is an event")
  func order() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      var ids: [Handoff.ID] = []
      for number in 1...3 {
        let claimed = try await fixture.submitted(number)
        _ = try await fixture.answer(claimed, .success(output: [:]))
        ids.append(claimed.handoff.id)
      }
      _ = try await ledger.recordVerification(of: ids[0], .intact, detail: "there")
      fixture.time.advance(.seconds(1))
      _ = try await ledger.recordVerification(of: ids[1], .missing, detail: nil)
      #expect(try await ledger.verifiable(at: .archive).map(\.id) == [ids[2], ids[0], ids[1]])
      #expect(try await ledger.verifiable(at: .archive, limit: 1).map(\.id) == [ids[2]])
      #expect(try await ledger.verifiable(at: .social).isEmpty)
      #expect(try await ledger.verifiable(at: .archive, since: fixture.time.now).isEmpty)
      let asset = try await fixture.handoff(ids[1]).localIdentifiers[0]
      #expect(try await ledger.verifiable(at: .archive, asset: asset).map(\.id) == [ids[1]])
      let last = try #require(try await ledger.lastVerification(of: ids[1]))
      #expect(last.standing == .missing)
      #expect(last.at == fixture.time.now)
      #expect(try await ledger.lastVerification(of: ids[2]) == nil)
      let event = try #require(try await ledger.history(of: ids[0]).last)
      #expect(event.kind == "verified_intact")
      #expect(event.to == .succeeded)
      #expect(try await ledger.successes(since: fixture.time.now)[.archive]?.total == 3)
    }
  }
}
