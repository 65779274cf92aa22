import HandoffCore
import HandoffProtocol
import Ledger
import Paths
import Testing

@Suite("Deleting assets", .timeLimit(.minutes(2)))
struct DeletionTests {
  private let day: Duration = .seconds(86_400)

  @Test("An asset with an open handoff is pinned, and what pins it is named")
  func pinned() async throws {
    try await LedgerFixture.with { fixture in
      let record = try await fixture.add(1, to: [.archive, .social])
      let identifier = record.localIdentifier
      await #expect(throws: LedgerError.pinned(identifier, record.created)) {
        try await fixture.ledger.delete(identifier, force: false, reason: "test")
      }
      #expect(try await fixture.ledger.asset(identifier)?.status == .present)
      for id in record.created { _ = try await fixture.ledger.cancel(id) }
      let deletion = try await fixture.ledger.delete(identifier, force: false, reason: "test")
      #expect(!deletion.wasDeleted)
      #expect(try await fixture.ledger.asset(identifier)?.status == .deleted)
      #expect(
        try await fixture.ledger.delete(identifier, force: false, reason: "again").wasDeleted
      )
    }
  }

  @Test("Deleted on purpose: what was not sent ends as asset_deleted, what was sent goes on")
  func forced() async throws {
    try await LedgerFixture.with { fixture in
      let record = try await fixture.add(1, to: [.archive, .social])
      let identifier = record.localIdentifier
      let sent = try #require(try await fixture.claim(.social).first)
      try await fixture.ledger.recordSubmission(sent.handoff.id, leaseID: sent.leaseID)
      let claimed = try #require(try await fixture.claim(.archive).first)
      let deletion = try await fixture.ledger.delete(identifier, force: true, reason: "test")
      #expect(deletion.ended.map(\.id) == [claimed.handoff.id])
      #expect(deletion.open.map(\.id) == [sent.handoff.id])
      let ended = try await fixture.handoff(claimed.handoff.id)
      #expect(ended.status == .refused)
      #expect(ended.error?.code == .assetDeleted)
      #expect(ended.error?.effect == Effect.none)
      #expect(ended.error?.localIdentifier == identifier)
      await #expect(throws: LedgerError.leaseLost(claimed.handoff.id)) {
        try await fixture.ledger.recordSubmission(claimed.handoff.id, leaseID: claimed.leaseID)
      }
      // The receiver's word still counts.
      #expect(try await fixture.handoff(sent.handoff.id).status == .submitted)
      #expect(
        try await fixture.answer(sent, .success(output: [:]), from: .social).name == "applied"
      )
      #expect(try await fixture.handoff(sent.handoff.id).status == .succeeded)
    }
  }

  @Test("The bytes of a deleted asset count as there until they are gone, and come back with it")
  func bytes() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      let identifier = try await fixture.add(1).localIdentifier
      #expect(try await ledger.unremovedAssets(limit: 10).isEmpty)
      #expect(try await !ledger.recordRemoval(of: identifier))
      _ = try await ledger.delete(identifier, force: false, reason: "test")
      #expect(try await ledger.unremovedAssets(limit: 10) == [identifier])
      #expect(try await ledger.recordRemoval(of: identifier))
      #expect(try await ledger.unremovedAssets(limit: 10).isEmpty)
      #expect(try await fixture.add(1, to: [.archive]).revived)
      #expect(try await !ledger.recordRemoval(of: identifier))
      _ = try await ledger.delete(identifier, force: false, reason: "test")
      #expect(try await ledger.unremovedAssets(limit: 10) == [identifier])
      let kinds = try await ledger.history(of: identifier).map(\.kind)
      #expect(
        kinds == ["imported", "asset_deleted", "bytes_removed", "revived", "asset_deleted"]
      )
    }
  }

  @Test("Revived content hands nothing off by itself, in no folder and replacing nothing")
  func revivedIsQuiet() async throws {
    try await LedgerFixture.with { fixture in
      let path: BytePath = "/exports/a.mp4"
      let first = try await fixture.add(1, path: path).localIdentifier
      let waiting = try await fixture.add(2, path: path, to: [.archive]).created
      _ = try await fixture.ledger.delete(first, force: false, reason: "test")
      let back = try await fixture.add(
        1,
        path: path,
        to: [.archive, .social],
        onSupersede: .replace
      )
      #expect(back.revived)
      #expect(back.created.isEmpty)
      #expect(back.replaced.isEmpty)
      #expect(try await fixture.handoff(waiting[0]).waiting == .init(.superseded))
      #expect(try await fixture.ledger.handoffs(ofAsset: first).isEmpty)
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [first],
        isAutomatic: false
      )
      #expect(try await fixture.ledger.create(order).isNew)
    }
  }

  @Test("Revived content hands nothing off when it is seen again, renamed or in another folder")
  func revivedStaysQuiet() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.add(1).localIdentifier
      _ = try await fixture.ledger.delete(first, force: false, reason: "test")
      #expect(try await fixture.add(1, to: [.archive]).revived)
      let renamed = try await fixture.add(1, path: "/exports/renamed.mp4", to: [.archive])
      #expect(!renamed.revived)
      #expect(renamed.created.isEmpty)
      let elsewhere = try await fixture.add(1, path: "/b/1.mp4", folder: "/b", to: [.social])
      #expect(elsewhere.created.isEmpty)
      #expect(try await fixture.ledger.handoffs(ofAsset: first).isEmpty)
    }
  }

  @Test("What nobody has needed for long enough is deleted, counted from import, sighting, or end")
  func retention() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      let idle = try await fixture.add(1).localIdentifier
      let seenAgain = try await fixture.add(2).localIdentifier
      let used = try await fixture.submitted(3)
      let pinned = try await fixture.add(4, to: [.social])
      fixture.time.advance(day)
      try await fixture.add(2, path: "/exports/again.mp4")
      _ = try await fixture.answer(used, .success(output: [:]))
      #expect(try await ledger.longestUnused() == fixture.time.now.advanced(by: .zero - day))
      #expect(try await unused(fixture).isEmpty)
      fixture.time.advance(.milliseconds(1))
      #expect(try await unused(fixture) == [idle])
      fixture.time.advance(day)
      #expect(
        try await Set(unused(fixture)) == [seenAgain, used.handoff.localIdentifiers[0]]
      )
      #expect(try await ledger.longestUnused() == nil)
      _ = try await ledger.cancel(pinned.created[0])
      fixture.time.advance(day)
      #expect(try await unused(fixture).isEmpty)
      fixture.time.advance(.milliseconds(1))
      #expect(try await unused(fixture) == [pinned.localIdentifier])
      #expect(try await ledger.counts().assets == [.deleted: 4])
    }
  }

  @Test("An asset whose original waits for its handoffs is not deleted by its age")
  func waitingOriginal() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      let path: BytePath = "/exports/1.mp4"
      let identifier = try await fixture.add(1).localIdentifier
      try await ledger.setOriginalWaits(true, at: path, of: identifier)
      let waiting = try await ledger.waitingOriginals()
      #expect(waiting.map(\.path) == [path])
      #expect(waiting.map(\.folder) == ["/exports"])
      fixture.time.advance(day * 2)
      #expect(try await unused(fixture).isEmpty)
      try await ledger.forgetWaitingOriginals(outside: ["/exports"])
      #expect(try await unused(fixture).isEmpty)
      try await ledger.forgetWaitingOriginals(outside: ["/others"])
      #expect(try await unused(fixture) == [identifier])
    }
  }

  @Test("An original that was exported again does not wait any more")
  func overwrittenOriginal() async throws {
    try await LedgerFixture.with { fixture in
      let path: BytePath = "/exports/1.mp4"
      let identifier = try await fixture.add(1).localIdentifier
      try await fixture.ledger.setOriginalWaits(true, at: path, of: identifier)
      try await fixture.add(2, path: path)
      #expect(try await fixture.ledger.waitingOriginals().isEmpty)
    }
  }

  @Test("An asset that a rebuild has put back counts as needed at that moment")
  func rebuilt() async throws {
    try await LedgerFixture.with { fixture in
      let imported = fixture.time.now.advanced(by: .zero - day * 100)
      try await fixture.ledger.restore([try sampleAsset(1, at: imported)])
      #expect(try await fixture.ledger.longestUnused() == fixture.time.now)
    }
  }

  @Test("Many are deleted in steps")
  func steps() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...5 { try await fixture.add(number) }
      fixture.time.advance(day * 2)
      var sizes: [Int] = []
      var isMore = true
      while isMore {
        let found = try await fixture.ledger.deleteUnused(
          since: fixture.time.now.advanced(by: .zero - day),
          limit: 2,
          reason: "test"
        )
        sizes.append(found.deleted.count)
        isMore = found.isMore
      }
      #expect(sizes == [2, 2, 1])
    }
  }

  @Test("That a person accepted it is kept with the first reason, and shown in its history")
  func acceptance() async throws {
    try await LedgerFixture.with { fixture in
      let time = fixture.time.now
      for findings in ["no moov", "something else"] {
        var asset = try sampleAsset(1, at: time)
        asset.acceptance = Acceptance(at: time, by: 1000, findings: findings)
        let sighting = Sighting(
          path: "/exports/1.mp4",
          folder: "/exports",
          identity: identity(1),
          seenAt: time
        )
        let accepted = asset
        _ = try await fixture.ledger.recordImport(asset: accepted, sighting: sighting, orders: [])
      }
      let identifier = try sampleAsset(1, at: time).localIdentifier
      let kept = try #require(try await fixture.ledger.asset(identifier)).acceptance
      #expect(kept == Acceptance(at: time, by: 1000, findings: "no moov"))
      let events = try await fixture.ledger.history(of: identifier)
      #expect(events.map(\.kind) == ["imported", "accepted_incomplete"])
      #expect(events.last?.detail == "uid 1000: no moov")
    }
  }

  private func unused(_ fixture: LedgerFixture) async throws -> [LocalIdentifier] {
    let moment = fixture.time.now.advanced(by: .zero - day)
    // The moment itself is included, so that one millisecond before it nothing is due.
    return try await fixture.ledger.deleteUnused(
      since: moment.advanced(by: .milliseconds(-1)),
      limit: 100,
      reason: "test"
    ).deleted
  }
}
