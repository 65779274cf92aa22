import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Paths
import Testing

@Suite("Orders that are held since a rebuild", .timeLimit(.minutes(2)))
struct HeldOrderTests {
  @Test("what is ordered of content in doubt is held, and made once")
  func held() async throws {
    try await LedgerFixture.with { fixture in
      let record = try await fixture.add(1, to: [.archive], isDoubtful: true)
      #expect(record.isHeld && record.created.isEmpty)
      // Later sightings too, wherever they are.
      let again = try await fixture.add(1, path: "/exports/b.mp4", to: [.archive, .social])
      #expect(again.isHeld && again.created.isEmpty)
      #expect(try await fixture.ledger.heldOrderCount() == 2)
      #expect(try await fixture.ledger.isHeld(record.localIdentifier))
      let held = try await fixture.ledger.heldOrders(limit: 10)
      #expect(held.map(\.path) == ["/exports/1.mp4", "/exports/b.mp4"])

      #expect(try await fixture.ledger.resumeHandoffs().count == 2)
      #expect(
        try await fixture.claim().map(\.handoff.localIdentifiers) == [[record.localIdentifier]]
      )
      #expect(try await fixture.ledger.resumeHandoffs().isEmpty)
      #expect(try await fixture.add(1, to: [.archive], isDoubtful: true).created.isEmpty)
      #expect(try await fixture.ledger.heldOrderCount() == 0)
      #expect(try await !fixture.ledger.isHeld(record.localIdentifier))
    }
  }

  @Test(
    "a newer export at the path takes no held one's place, and the older waits when it is let go"
  )
  func superseded() async throws {
    try await LedgerFixture.with { fixture in
      let path: BytePath = "/exports/a.mp4"
      let old = try await fixture.add(1, path: path, to: [.archive], isDoubtful: true)
      let new = try await fixture.add(2, path: path, to: [.archive], onSupersede: .replace)
      #expect(new.created.count == 1)
      let made = try #require(try await fixture.ledger.resumeHandoffs().first)
      let handoff = try await fixture.handoff(made)
      #expect(handoff.localIdentifiers == [old.localIdentifier])
      #expect(handoff.waiting == .init(.superseded))
    }
  }

  @Test("what was handed off by hand or deleted meanwhile is not made")
  func overtaken() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.add(1, to: [.archive], isDoubtful: true).localIdentifier
      let deleted = try await fixture.add(2, to: [.archive], isDoubtful: true).localIdentifier
      let order = HandoffOrder(destination: .archive, localIdentifiers: [sent], isAutomatic: false)
      _ = try await fixture.ledger.create(order)
      try await fixture.ledger.setStatus(.deleted, of: deleted)
      #expect(try await fixture.ledger.resumeHandoffs().isEmpty)
    }
  }

  @Test("one member in doubt holds a package, and what counts as handed off is left out")
  func package() async throws {
    try await LedgerFixture.with { fixture in
      var members: [LocalIdentifier] = []
      for number in 1...3 {
        let record = try await fixture.add(
          number,
          path: BytePath("/exports/job/\(number).mp4"),
          isDoubtful: number == 2
        )
        members.append(record.localIdentifier)
      }
      let orders = [HandoffOrder(destination: .archive, localIdentifiers: [], isAutomatic: true)]
      let record = try await fixture.ledger.recordPackage(
        "/exports/job",
        members: members,
        handedOff: [members[0]],
        orders: orders
      )
      #expect(record.isHeld && record.created.isEmpty)
      let made = try #require(try await fixture.ledger.resumeHandoffs().first)
      #expect(try await fixture.handoff(made).localIdentifiers == [members[1], members[2]])
    }
  }

  @Test("a rebuilt ledger has seen a folder since the earliest sighting that names it")
  func firstSeen() async throws {
    try await LedgerFixture.with { fixture in
      var asset = try sampleAsset(1, at: fixture.time.now)
      let began = fixture.time.now
      let sightings = [600, 0, 300].map { second in
        Sighting(
          path: BytePath("/exports/\(second).mp4"),
          folder: "/exports",
          identity: identity(second + 1),
          seenAt: began.advanced(by: .seconds(second))
        )
      }
      asset.sources = sightings
      try await fixture.ledger.restore([asset])
      let identifier = asset.localIdentifier
      try await fixture.ledger.replay(
        sightings.map { PastSighting(asset: identifier, sighting: $0) }
      )
      fixture.time.advance(.seconds(3_600))
      #expect(try await fixture.ledger.firstSeen(folder: "/exports") == began)
      #expect(try await fixture.ledger.firstSeen(folder: "/other") == fixture.time.now)
    }
  }
}
