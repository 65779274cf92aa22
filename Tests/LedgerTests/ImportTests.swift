import Digests
import HandoffCore
import HandoffProtocol
import Ledger
import Paths
import Testing

@Suite("Recording imports", .timeLimit(.minutes(2)))
struct ImportTests {
  @Test("An import makes the asset, its sighting and its handoffs at once")
  func whole() async throws {
    try await LedgerFixture.with { fixture in
      let record = try await fixture.add(1, to: [.archive, .social])
      #expect(record.isNewAsset)
      #expect(record.created.count == 2)
      #expect(record.supersedes == nil)
      let asset = try #require(try await fixture.ledger.asset(record.localIdentifier))
      var expected = try sampleAsset(1, at: fixture.time.now)
      expected.sources = asset.sources
      #expect(asset == expected)
      #expect(asset.sources.map(\.path) == ["/exports/1.mp4"])
      #expect(asset.sources.map(\.identity) == [identity(1)])
      let handoffs = try await fixture.ledger.handoffs(ofAsset: record.localIdentifier)
      #expect(Set(handoffs.map(\.destination)) == [.archive, .social])
      #expect(handoffs.allSatisfy { $0.status == .pending && $0.waiting == nil })
    }
  }

  @Test("The same content under another name is the same asset, and adds only what is missing")
  func secondSighting() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.add(1, to: [.archive])
      let second = try await fixture.add(1, path: "/other/a.mp4", to: [.archive, .social])
      #expect(!second.isNewAsset)
      #expect(second.localIdentifier == first.localIdentifier)
      #expect(second.created.count == 1)
      let asset = try #require(try await fixture.ledger.asset(first.localIdentifier))
      #expect(asset.sources.map(\.path) == ["/exports/1.mp4", "/other/a.mp4"])
      #expect(try await fixture.ledger.handoffs().count == 2)
    }
  }

  @Test("An automatic handoff is not repeated, whatever became of the first")
  func automaticOnce() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.add(1, to: [.archive])
      _ = try await fixture.ledger.cancel(try #require(first.created.first))
      #expect(try await fixture.add(1, to: [.archive]).created.isEmpty)
    }
  }

  @Test("New content at a path supersedes the old, and holds what was not submitted")
  func superseding() async throws {
    try await LedgerFixture.with { fixture in
      let old = try await fixture.add(1, path: "/exports/a.mp4", to: [.archive, .social])
      let sent = try #require(try await fixture.claim(.social).first)
      try await fixture.ledger.recordSubmission(sent.handoff.id, leaseID: sent.leaseID)
      let new = try await fixture.add(2, path: "/exports/a.mp4", to: [.archive])
      #expect(new.supersedes == old.localIdentifier)
      let older = try #require(try await fixture.ledger.asset(old.localIdentifier))
      let newer = try #require(try await fixture.ledger.asset(new.localIdentifier))
      #expect(older.supersededBy == new.localIdentifier)
      #expect(newer.supersedes == old.localIdentifier)
      let handoffs = try await fixture.ledger.handoffs(ofAsset: old.localIdentifier)
      #expect(handoffs.first { $0.destination == .archive }?.waiting == .init(.superseded))
      #expect(handoffs.first { $0.destination == .social }?.status == .submitted)
      #expect(try await fixture.claim(limit: 10).map(\.handoff.id) == new.created)
    }
  }

  @Test("A path that returns to its earlier content turns the link round")
  func returning() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.add(1, path: "/exports/a.mp4").localIdentifier
      let second = try await fixture.add(2, path: "/exports/a.mp4").localIdentifier
      let third = try await fixture.add(1, path: "/exports/a.mp4")
      #expect(third.supersedes == second)
      let assets = try await fixture.ledger.assets()
      #expect(assets.map(\.localIdentifier) == [first, second])
      #expect(assets.map(\.supersededBy) == [nil, first])
      #expect(assets.map(\.supersedes) == [second, nil])
      #expect(try await fixture.ledger.identifier(lastSightedAt: "/exports/a.mp4") == first)
    }
  }

  @Test("Deleted content that comes again is revived, and hands nothing off")
  func revived() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      try await fixture.ledger.setStatus(.deleted, of: identifier)
      #expect(try await fixture.ledger.asset(identifier)?.status == .deleted)
      let record = try await fixture.add(1, to: [.archive])
      #expect(record.revived)
      #expect(record.created.isEmpty)
      #expect(try await fixture.ledger.asset(identifier)?.status == .present)
    }
  }

  @Test("Another content with the same identifier is refused, and nothing of it is kept")
  func collision() async throws {
    try await LedgerFixture.with { fixture in
      let identifier = try await fixture.add(1).localIdentifier
      var impostor = try sampleAsset(1, at: fixture.time.now)
      var bytes = impostor.digest.bytes
      bytes[31] ^= 1
      impostor.digest = try #require(ContentDigest(bytes))
      let sighting = Sighting(
        path: "/exports/b.mp4",
        folder: "/exports",
        identity: identity(9),
        seenAt: fixture.time.now
      )
      let changed = impostor
      await #expect(throws: LedgerError.identifierCollision(identifier)) {
        try await fixture.ledger.recordImport(asset: changed, sighting: sighting, orders: [])
      }
      #expect(try await fixture.ledger.identifier(lastSightedAt: "/exports/b.mp4") == nil)
    }
  }

  @Test("A file is known only while it is the same file with the same content and change time")
  func sighted() async throws {
    try await LedgerFixture.with { fixture in
      let path = BytePath([0x2F, 0xFF, 0x0A, 0x27])
      let identifier = try await fixture.add(1, path: path).localIdentifier
      let ledger = fixture.ledger
      #expect(try await ledger.identifier(sightedAt: path, identity: identity(1)) == identifier)
      #expect(
        try await ledger.identifier(sightedAt: path, identity: identity(1, changed: 8)) == nil
      )
      #expect(try await ledger.identifier(sightedAt: "/ÿ", identity: identity(1)) == nil)
      #expect(try await ledger.asset(identifier)?.sources.map(\.path) == [path])
    }
  }

  @Test("Content that its path held already is ordered nothing, unless a new sidecar comes with it")
  func seenAgain() async throws {
    try await LedgerFixture.with { fixture in
      let path: BytePath = "/exports/1.mp4"
      let ledger = fixture.ledger
      let identifier = try await fixture.add(1).localIdentifier
      let again = try await ledger.recordImport(
        asset: try sampleAsset(1, at: fixture.time.now),
        sighting: Sighting(
          path: path,
          folder: "/exports",
          identity: identity(1, changed: 8),
          seenAt: fixture.time.now
        ),
        orders: [
          HandoffOrder(destination: .archive, localIdentifiers: [identifier], isAutomatic: true)
        ]
      )
      #expect(again.created.isEmpty)
      let changed = identity(1, changed: 8)
      #expect(try await ledger.identifier(sightedAt: path, identity: changed) == identifier)
      let sidecar = ConsumedSidecar(path: "/exports/1.mp4.handoff.toml", identity: identity(2))
      #expect(try await fixture.add(1, to: [.archive], sidecar: sidecar).created.count == 1)
      #expect(try await fixture.add(1, path: "/exports/copy.mp4", to: [.social]).created.count == 1)
      // Once the path has held something else, the same content is a new export of it.
      try await fixture.add(3)
      try await fixture.add(4, path: "/exports/3.mp4")
      #expect(try await fixture.add(3, to: [.archive]).created.count == 1)
    }
  }

  @Test("A file that was only imported by hand is not known, so its drop folder still takes it")
  func byHandFirst() async throws {
    try await LedgerFixture.with { fixture in
      let path: BytePath = "/exports/1.mp4"
      let ledger = fixture.ledger
      let identifier = try await fixture.add(1, folder: Sighting.byHand).localIdentifier
      #expect(try await ledger.identifier(sightedAt: path, identity: identity(1)) == nil)
      #expect(try await ledger.identifier(lastSightedAt: path) == identifier)
      #expect(try await fixture.add(1, to: [.archive]).created.count == 1)
      #expect(try await ledger.identifier(sightedAt: path, identity: identity(1)) == identifier)
      #expect(try await ledger.asset(identifier)?.sources.map(\.folder) == ["/exports"])
    }
  }

  @Test("An import by hand leaves what the drop folder saw as it is")
  func byHandLater() async throws {
    try await LedgerFixture.with { fixture in
      let path: BytePath = "/exports/1.mp4"
      let ledger = fixture.ledger
      let identifier = try await fixture.add(1, to: [.archive]).localIdentifier
      _ = try await ledger.recordImport(
        asset: try sampleAsset(1, at: fixture.time.now),
        sighting: Sighting(
          path: path,
          folder: Sighting.byHand,
          identity: identity(1, changed: 8),
          seenAt: fixture.time.now
        ),
        orders: []
      )
      let sources = try #require(try await ledger.asset(identifier)).sources
      #expect(sources.map(\.folder) == ["/exports"])
      #expect(sources.map(\.identity) == [identity(1)])
      #expect(try await ledger.identifier(sightedAt: path, identity: identity(1)) == identifier)

      // Also where the path held something else in between.
      try await fixture.add(2, path: path)
      let back = try await fixture.add(1, folder: Sighting.byHand)
      #expect(back.supersedes != nil)
      #expect(try await ledger.identifier(lastSightedAt: path) == identifier)
    }
  }

  @Test("A sidecar is consumed with the import that used it, and a new one at its path is not")
  func sidecar() async throws {
    try await LedgerFixture.with { fixture in
      let path: BytePath = "/exports/1.mp4.handoff.toml"
      #expect(try await !fixture.ledger.sidecarIsConsumed(path, identity: identity(5)))
      _ = try await fixture.ledger.recordImport(
        asset: try sampleAsset(1, at: fixture.time.now),
        sighting: Sighting(
          path: "/exports/1.mp4",
          folder: "/exports",
          identity: identity(1),
          seenAt: fixture.time.now
        ),
        orders: [],
        sidecar: ConsumedSidecar(path: path, identity: identity(5))
      )
      #expect(try await fixture.ledger.sidecarIsConsumed(path, identity: identity(5)))
      #expect(try await !fixture.ledger.sidecarIsConsumed(path, identity: identity(6)))
    }
  }

  @Test("Assets come in pages, in the order of their import")
  func pages() async throws {
    try await LedgerFixture.with { fixture in
      var identifiers: [LocalIdentifier] = []
      for number in 1...5 { identifiers.append(try await fixture.add(number).localIdentifier) }
      let page = try await fixture.ledger.assets(limit: 2, offset: 2)
      #expect(page.map(\.localIdentifier) == Array(identifiers[2...3]))
      #expect(try await fixture.ledger.counts().assets == [.present: 5])
    }
  }
}
