import HandoffCore
import HandoffProtocol
import Ledger
import Paths
import Testing

@Suite("Replacing what is superseded", .timeLimit(.minutes(2)))
struct ReplacingTests {
  private let path: BytePath = "/exports/a.mp4"

  private func open(_ fixture: LedgerFixture, _ asset: LocalIdentifier) async throws -> [String] {
    try await fixture.ledger.openHandoffs(ofAsset: asset).map(\.destination.text).sorted()
  }

  @Test("What was not sent ends as superseded, in the change that makes the new ones")
  func replaced() async throws {
    try await LedgerFixture.with { fixture in
      let old = try await fixture.add(1, path: path, to: [.archive, .social])
      let sent = try #require(try await fixture.claim(.social).first)
      try await fixture.ledger.recordSubmission(sent.handoff.id, leaseID: sent.leaseID)
      let new = try await fixture.add(2, path: path, to: [.archive], onSupersede: .replace)
      let ended = try #require(new.replaced.first)
      #expect(new.replaced.count == 1)
      let handoff = try await fixture.handoff(ended)
      #expect(handoff.localIdentifiers == [old.localIdentifier])
      #expect(handoff.status == .cancelled)
      #expect(handoff.result == "cancelled")
      #expect(handoff.error?.code == .superseded)
      #expect(handoff.error?.message.contains(new.localIdentifier.text) == true)
      #expect(handoff.side == .broker)
      #expect(try await open(fixture, new.localIdentifier) == ["archive"])
      // What was under way goes on, and is held if it comes back with nothing done.
      #expect(try await fixture.handoff(sent.handoff.id).status == .submitted)
      #expect(try await fixture.answer(sent, .failure(.busy), from: .social).name == "applied")
      #expect(try await fixture.handoff(sent.handoff.id).waiting == .init(.superseded))
    }
  }

  @Test("A claimed handoff is replaced before it is sent, and its claim holds no more")
  func claimed() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, path: path, to: [.archive])
      let claim = try #require(try await fixture.claim().first)
      let new = try await fixture.add(2, path: path, to: [.archive], onSupersede: .replace)
      #expect(new.replaced == [claim.handoff.id])
      await #expect(throws: LedgerError.leaseLost(claim.handoff.id)) {
        try await fixture.ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
      }
    }
  }

  @Test(
    "What the box had ordered is made anew for the newer asset, unless that has a box of its own"
  )
  func inherited() async throws {
    try await LedgerFixture.with { fixture in
      let moment = fixture.time.now.advanced(by: .seconds(600))
      for (number, sidecar) in [(1, nil), (2, ConsumedSidecar(path: "/b", identity: identity(9)))] {
        let path = BytePath("/exports/\(number).mp4")
        let asset = try sampleAsset(number, at: fixture.time.now)
        var order = HandoffOrder(
          destination: .social,
          localIdentifiers: [asset.localIdentifier],
          isAutomatic: true
        )
        order.title = "Cut"
        order.syncPublish = true
        order.publishAt = moment
        order.metadata = .object(["a": .integer(1)])
        let sighting = Sighting(
          path: path,
          folder: "/exports",
          identity: identity(number),
          seenAt: fixture.time.now
        )
        _ = try await fixture.ledger.recordImport(asset: asset, sighting: sighting, orders: [order])
        let new = try await fixture.add(
          number + 10,
          path: path,
          to: [.archive],
          onSupersede: .replace,
          sidecar: sidecar
        )
        let handoffs = try await fixture.ledger.openHandoffs(ofAsset: new.localIdentifier)
        #expect(Set(handoffs.map(\.id)) == Set(new.created))
        let social = handoffs.first { $0.destination == .social }
        #expect((social == nil) == (sidecar != nil))
        guard let social else { continue }
        #expect(social.title == "Cut")
        #expect(social.syncPublish)
        #expect(social.metadata == order.metadata)
        #expect(social.waiting == .init(.publishAt, until: moment))
      }
    }
  }

  @Test("Content that returns is handed off again, and nothing is lost on the way")
  func returning() async throws {
    try await LedgerFixture.with { fixture in
      for number in [1, 2, 3, 1] {
        let record = try await fixture.add(
          number,
          path: path,
          to: [.archive],
          onSupersede: .replace
        )
        #expect(record.created.count == 1, "content \(number)")
        let open = try await fixture.ledger.handoffs(status: .pending)
        #expect(open.map(\.localIdentifiers) == [[record.localIdentifier]])
      }
      let first = try sampleAsset(1, at: fixture.time.now).localIdentifier
      #expect(try await fixture.claim(limit: 10).map(\.handoff.localIdentifiers) == [[first]])
    }
  }

  @Test("Handoffs by hand and of several assets are held: nobody has said what goes instead")
  func chosen() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.add(1, path: path).localIdentifier
      let other = try await fixture.add(5).localIdentifier
      var ids: [Handoff.ID] = []
      for (identifiers, isAutomatic) in [([first], false), ([first, other], true)] {
        let order = HandoffOrder(
          destination: .archive,
          localIdentifiers: identifiers,
          isAutomatic: isAutomatic
        )
        ids.append(try await fixture.ledger.create(order, again: true).handoff.id)
      }
      let new = try await fixture.add(2, path: path, to: [.archive], onSupersede: .replace)
      #expect(new.replaced.isEmpty)
      for id in ids { #expect(try await fixture.handoff(id).waiting == .init(.superseded)) }
    }
  }

  @Test("With both, the older goes too")
  func both() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, path: path, to: [.archive])
      try await fixture.add(2, path: path, to: [.archive], onSupersede: .both)
      #expect(try await fixture.claim(limit: 10).count == 2)
    }
  }

  @Test("A person lets go of what is held, and it waits for nothing but its own moment")
  func letGo() async throws {
    try await LedgerFixture.with { fixture in
      let held = try #require(try await fixture.add(1, path: path, to: [.archive]).created.first)
      try await fixture.add(2, path: path)
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.retry(held).status == .pending)
      let claim = try #require(try await fixture.claim().first)
      #expect(claim.handoff.id == held)
      try await fixture.ledger.recordSubmission(held, leaseID: claim.leaseID)
      #expect(try await fixture.answer(claim, .failure(.busy)).name == "retried")
      // What waits for another reason is not retried by this.
      await #expect(throws: LedgerError.self) { try await fixture.ledger.retry(held) }
    }
  }

  @Test("However often contents return to a path, no chain of links comes back to its start")
  func links() async throws {
    try await LedgerFixture.with { fixture in
      for number in [1, 2, 3, 1, 3, 2, 2, 1, 3] {
        try await fixture.add(number, path: path)
        let assets = try await fixture.ledger.assets()
        let byName = Dictionary(uniqueKeysWithValues: assets.map { ($0.localIdentifier, $0) })
        let newest = try sampleAsset(number, at: fixture.time.now).localIdentifier
        #expect(byName[newest]?.supersededBy == nil)
        for link in [\Asset.supersedes, \Asset.supersededBy] {
          for start in assets {
            var steps = 0
            var at = start[keyPath: link]
            while let next = at, steps <= assets.count {
              at = byName[next]?[keyPath: link]
              steps += 1
            }
            #expect(steps < assets.count, "after \(number)")
          }
        }
      }
    }
  }
}
