import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import SQLite
import Testing

@testable import Ledger

@Suite("Readings of objects in the ledger", .timeLimit(.minutes(1)))
struct CareTests {
  @Test("A reading moves an asset between present, damaged and unavailable, as events of the chain")
  func statuses() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      let identifier = try await fixture.add(1).localIdentifier
      #expect(try await ledger.recordReading(of: identifier, .damaged) == .present)
      #expect(try await ledger.recordReading(of: identifier, .missing) == .damaged)
      #expect(try await ledger.recordReading(of: identifier, .good(modified: 5)) == .unavailable)
      #expect(try await ledger.recordReading(of: identifier, .good(modified: 6)) == .present)
      let known = try #require(try await ledger.objectKnowledge(of: identifier))
      #expect(known.status == .present && known.modified == 6)
      #expect(known.verifiedAt == fixture.time.now)
      #expect(try await events(fixture) == ["asset_damaged", "asset_missing", "asset_present"])
      try await ledger.setStatus(.deleted, of: identifier)
      for condition in [ObjectCondition.missing, .damaged, .good(modified: 1)] {
        #expect(try await ledger.recordReading(of: identifier, condition) == .deleted)
      }
      #expect(try await ledger.asset(identifier)?.status == .deleted)
      guard case .intact = try await ledger.verifyChain() else {
        Issue.record("the chain is broken")
        return
      }
    }
  }

  @Test("The longest unread comes first, what was read since a moment is left out")
  func order() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      var identifiers: [LocalIdentifier] = []
      for number in 1...4 {
        identifiers.append(try await fixture.add(number).localIdentifier)
        fixture.time.advance(.seconds(10))
      }
      let began = fixture.time.now
      #expect(try await ledger.unread(since: began, limit: 9).map(\.localIdentifier) == identifiers)
      #expect(try await ledger.unreadTotals(since: began) == AssetTotals(count: 4, bytes: 10))
      try await ledger.recordReading(of: identifiers[0], .good(modified: 1))
      try await ledger.recordReading(of: identifiers[2], .damaged)
      // An import is a reading too.
      try await fixture.add(5)
      let left = try await ledger.unread(since: began, limit: 9).map(\.localIdentifier)
      #expect(left == [identifiers[1], identifiers[3]])
      #expect(try await ledger.longestUnread()?.localIdentifier == identifiers[1])
      #expect(try await ledger.objects(with: .damaged).map(\.localIdentifier) == [identifiers[2]])
    }
  }

  @Test("A note is there until it is taken away")
  func notes() async throws {
    try await LedgerFixture.with { fixture in
      #expect(try await fixture.ledger.note(.rebuilt) == nil)
      for moment in [fixture.time.now, fixture.time.now.advanced(by: .seconds(1))] {
        try await fixture.ledger.setNote(.rebuilt, moment)
        #expect(try await fixture.ledger.note(.rebuilt) == moment)
      }
      try await fixture.ledger.setNote(.rebuilt, nil)
      #expect(try await fixture.ledger.note(.rebuilt) == nil)
    }
  }

  @Test("A ledger of the first schema gets the columns, and its assets count as never read again")
  func migration() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let database = directory.appending("ledger.db")
      let old = try Connection(database, .write, busyTimeout: .seconds(1))
      try old.migrate([Schema.v001], applicationID: Schema.applicationID)
      let asset = try sampleAsset(7, at: Timestamp(milliseconds: 1))
      let values: [Value] = [.text(asset.localIdentifier.text), .blob(asset.digest.bytes)]
      try old.run(Self.insert, values)
      try old.close()
      try DurableFile.write([UInt8](repeating: 1, count: 32), to: directory.appending("ledger.key"))
      let fixture = try await LedgerFixture.open(directory)
      let known = try #require(try await fixture.ledger.longestUnread())
      #expect(known.localIdentifier == asset.localIdentifier)
      #expect(known.verifiedAt == nil && known.modified == nil)
      try await fixture.ledger.close()
    }
  }

  @Test("What was restored and replayed is what the records say, and new handoffs have new numbers")
  func rebuild() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      let ledger = fixture.ledger
      var assets = try (1...3).map { try sampleAsset($0, at: fixture.time.now) }
      assets[2].status = .deleted
      try await ledger.restore(assets)
      await #expect(throws: LedgerError.identifierCollision(assets[0].localIdentifier)) {
        try await ledger.restore([assets[0]])
      }
      // The same path held the first, then the second, then the first again.
      let past = [0, 1, 0].enumerated().map { index, asset in
        PastSighting(
          asset: assets[asset].localIdentifier,
          sighting: Sighting(
            path: "/exports/a.mp4",
            folder: "/exports",
            identity: identity(index),
            seenAt: Timestamp(milliseconds: Int64(index))
          )
        )
      }
      try await ledger.replay(past)
      #expect(try await ledger.identifier(lastSightedAt: "/exports/a.mp4") == past[0].asset)
      let first = try #require(try await ledger.asset(past[0].asset))
      #expect(first.supersedes == assets[1].localIdentifier && first.supersededBy == nil)
      #expect(try await ledger.asset(assets[2].localIdentifier)?.status == .deleted)
      try await ledger.beginHandoffs(after: 1000)
      try await ledger.close()
      let again = try await LedgerFixture.open(directory, time: fixture.time)
      #expect(try await again.submitted(9).handoff.id == Handoff.ID(row: 1001))
      try await again.ledger.close()
    }
  }

  private func events(_ fixture: LedgerFixture) async throws -> [String] {
    let connection = try Connection(fixture.database, .read, busyTimeout: .seconds(1))
    return try connection.rows(
      SQL("SELECT event FROM events WHERE event LIKE 'asset%' ORDER BY seq")
    ) { row in try row.text(0) }
  }

  private static let insert = SQL(
    """
    INSERT INTO assets (identifier, digest, size, container, video_codec, width, height, rotation,
      duration_s, audio_tracks, imported_at, status)
    VALUES (?1, ?2, 7, 'mp4', 'h264', 1, 1, 0, 1.5, 0, 1, 'present')
    """
  )
}
