import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Paths
import SQLite
import Testing

@Suite("Handoffs that are ordered after others", .timeLimit(.minutes(2)))
struct DependencyTests {
  @Test("What waits becomes due with the success, in one transaction, also over a restart")
  func success() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      // The one that waits is ordered first: all of an import is looked at together.
      let record = try await fixture.add(1, to: [.social, .archive])
      let social = record.created[0]
      #expect(try await fixture.handoff(social).waiting == Handoff.Waiting(.after))
      #expect(try await fixture.claim(.social).isEmpty)
      let archive = try #require(try await fixture.claim().first)
      try await fixture.submit(archive)
      _ = try await fixture.answer(archive, .success(output: [:]))
      // What is committed with the success is all that a crash leaves.
      try await fixture.ledger.close()
      let next = try await LedgerFixture.open(fixture.directory, time: fixture.time)
      #expect(try await next.handoff(social).waiting == nil)
      try await next.ledger.reconsiderAfter(.socialAfterArchive)
      #expect(try await next.claim(.social).map(\.handoff.id) == [social])
      try await next.ledger.close()
    }
  }

  @Test("Every asset of a handoff has to be through")
  func several() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let names = [
        try await fixture.add(1, to: [.archive]).localIdentifier,
        try await fixture.add(2, to: [.archive]).localIdentifier,
      ]
      let order = HandoffOrder(destination: .social, localIdentifiers: names, isAutomatic: false)
      let social = try await fixture.ledger.create(order).handoff
      #expect(social.waiting?.reason == .after)
      for _ in names {
        #expect(try await fixture.claim(.social).isEmpty)
        let archive = try #require(try await fixture.claim().first)
        try await fixture.submit(archive)
        _ = try await fixture.answer(archive, .success(output: [:]))
      }
      #expect(try await fixture.claim(.social).map(\.handoff.id) == [social.id])
    }
  }

  enum End: CaseIterable {
    case failed
    case refused
    case cancelled
    case expired
  }

  @Test(
    "What waits ends as dependency_failed when what it waits for does not succeed",
    arguments: End.allCases
  )
  func failure(end: End) async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.chain)
      let record = try await fixture.add(1, to: [.archive, .social, .third])
      let archive = try #require(try await fixture.claim().first)
      let ceiling = end == .expired ? fixture.time.now : nil
      try await fixture.submit(archive, ceiling: ceiling)
      switch end {
      case .failed:
        let error = ResultError(.auth, "who are you?", effect: .none)
        _ = try await fixture.answer(archive, .failure(error))
      case .refused:
        let error = ResultError(.unsupportedMedia, "not this", effect: .none)
        _ = try await fixture.answer(archive, .failure(error))
      case .cancelled: _ = try await fixture.answer(archive, .cancelled(nil))
      case .expired: _ = try await fixture.ledger.expireDue()
      }
      let social = try await fixture.handoff(record.created[1])
      #expect(social.status == .failed)
      #expect(social.side == .broker)
      let error = try #require(social.error)
      #expect(error.code == .dependencyFailed)
      #expect(error.effect == Effect.none)
      #expect(error.retry == .afterFix)
      #expect(error.localIdentifier == record.localIdentifier)
      #expect(error.message.contains("\(archive.handoff.id) to archive"))
      if end == .failed { #expect(error.message.contains("auth: who are you?")) }
      #expect(error.remedy?.contains("`handoff retry \(social.id)`") == true)
      // It is waited for in its turn.
      let third = try await fixture.handoff(record.created[2])
      #expect(third.error?.code == .dependencyFailed)
      #expect(third.error?.message.contains("\(social.id) to social") == true)
      guard case .intact = try await fixture.ledger.verifyChain() else {
        Issue.record("the chain is broken")
        return
      }
    }
  }

  @Test("What is unknown or needs a person is waited for, and an adopted one has succeeded")
  func doubt() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let social = try await fixture.add(1, to: [.archive, .social]).created[1]
      let archive = try #require(try await fixture.claim().first)
      try await fixture.submit(archive)
      _ = try await fixture.ledger.recordNeedOfUser(archive.handoff.id, "sign in")
      #expect(try await fixture.handoff(social).waiting?.reason == .after)
      _ = try await fixture.answer(archive, .failure(.crashed))
      #expect(try await fixture.handoff(archive.handoff.id).status == .outcomeUnknown)
      #expect(try await fixture.handoff(social).waiting?.reason == .after)
      _ = try await fixture.ledger.adopt(archive.handoff.id)
      #expect(try await fixture.claim(.social).map(\.handoff.id) == [social])
    }
  }

  @Test("Trying again what failed publishes nothing by itself; what waited is tried again after it")
  func retried() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let record = try await fixture.add(1, to: [.archive, .social])
      let (archive, social) = (record.created[0], record.created[1])
      let first = try #require(try await fixture.claim().first)
      try await fixture.submit(first)
      _ = try await fixture.answer(
        first,
        .failure(ResultError(.auth, "who are you?", effect: .none))
      )
      // Before the other one is tried again it would only fail again.
      await #expect {
        try await fixture.ledger.retry(social)
      } throws: { error in
        guard case LedgerError.dependency(let reason) = error else { return false }
        return reason.remedy?.contains("handoff retry \(archive)") == true
      }
      #expect(try await fixture.handoff(social).status == .failed)
      _ = try await fixture.ledger.retry(archive)
      #expect(try await fixture.handoff(social).status == .failed)
      #expect(try await fixture.ledger.retry(social).waiting?.reason == .after)
      let second = try #require(try await fixture.claim().first)
      try await fixture.submit(second)
      _ = try await fixture.answer(second, .success(output: [:]))
      #expect(try await fixture.claim(.social).map(\.handoff.id) == [social])
    }
  }

  @Test("What would wait in vain is not ordered, and an import's is ended at once")
  func absent() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let record = try await fixture.add(1)
      let order = HandoffOrder(
        destination: .social,
        localIdentifiers: [record.localIdentifier],
        isAutomatic: false
      )
      for check in [true, false] {
        await #expect {
          if check {
            _ = try await fixture.ledger.waitsForOthers(order)
          } else {
            _ = try await fixture.ledger.create(order)
          }
        } throws: { error in
          guard case LedgerError.dependency(let reason) = error else { return false }
          return reason.code == .dependencyFailed
            && reason.remedy?.contains("--to archive") == true
        }
      }
      #expect(try await fixture.ledger.handoffs().isEmpty)
      #expect(try await fixture.ledger.waitsForOthers(order, planned: [.archive]))
      let alone = try await fixture.add(2, to: [.social]).created[0]
      #expect(try await fixture.handoff(alone).error?.code == .dependencyFailed)
    }
  }

  @Test("A success outlives its handoff's row, also where another was made on purpose since")
  func pruned() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let name = try await fixture.add(1, to: [.archive]).localIdentifier
      let archive = try #require(try await fixture.claim().first)
      try await fixture.submit(archive)
      _ = try await fixture.answer(archive, .success(output: [:]))
      let again = HandoffOrder(
        destination: .archive,
        localIdentifiers: [name],
        isAutomatic: false
      )
      _ = try await fixture.ledger.create(again, again: true)
      let second = try #require(try await fixture.claim().first)
      try await fixture.submit(second)
      let partly = ResultError(.receiverFailed, "half of it", effect: .applied)
      _ = try await fixture.answer(second, .failure(partly))
      fixture.time.advance(.seconds(100))
      #expect(try await fixture.ledger.prune(endedBefore: fixture.time.now).handoffs == 2)
      let past = try await fixture.ledger.pastHandoffs(ofAsset: name)
      #expect(past.map(\.id) == [archive.handoff.id])
      #expect(past.first?.status == .succeeded)
      let social = HandoffOrder(
        destination: .social,
        localIdentifiers: [name],
        isAutomatic: false
      )
      #expect(try await fixture.ledger.create(social).handoff.waiting == nil)
    }
  }

  @Test("Another configuration lets go what need not wait, and holds what has to")
  func reconfigured() async throws {
    try await LedgerFixture.with { fixture in
      let first = try await fixture.add(1, to: [.archive, .social]).created[1]
      let alone = try await fixture.add(2, to: [.social]).created[0]
      #expect(try await fixture.handoff(first).waiting == nil)
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      #expect(try await fixture.handoff(first).waiting?.reason == .after)
      // Ordered under another configuration, it is not ended for what was never ordered.
      #expect(try await fixture.claim(.social, limit: 5).isEmpty)
      #expect(try await fixture.handoff(alone).waiting?.reason == .after)
      try await fixture.ledger.reconsiderAfter(.none)
      #expect(
        try await Set(fixture.claim(.social, limit: 5).map(\.handoff.id)) == [first, alone]
      )
    }
  }

  @Test("A moment to publish at counts once what it waits for is done")
  func publishAt() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let name = try await fixture.add(1, to: [.archive]).localIdentifier
      var order = HandoffOrder(destination: .social, localIdentifiers: [name], isAutomatic: false)
      order.publishAt = fixture.time.now.advanced(by: .seconds(60))
      let social = try await fixture.ledger.create(order).handoff.id
      #expect(try await fixture.handoff(social).waiting == Handoff.Waiting(.after))
      let archive = try #require(try await fixture.claim().first)
      try await fixture.submit(archive)
      _ = try await fixture.answer(archive, .success(output: [:]))
      #expect(
        try await fixture.handoff(social).waiting
          == Handoff.Waiting(.publishAt, until: order.publishAt)
      )
      #expect(try await fixture.claim(.social).isEmpty)
      fixture.time.advance(.seconds(61))
      #expect(try await fixture.claim(.social).count == 1)
    }
  }

  @Test(
    "A superseded or deleted asset's handoffs go as they went, one waiting for the other or not"
  )
  func superseded() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.reconsiderAfter(.socialAfterArchive)
      let path: BytePath = "/exports/same.mp4"
      let older = try await fixture.add(1, path: path, to: [.archive, .social])
      let newer = try await fixture.add(
        2,
        path: path,
        to: [.archive, .social],
        onSupersede: .replace
      )
      for id in older.created { #expect(try await fixture.handoff(id).status == .cancelled) }
      #expect(Set(newer.replaced) == Set(older.created))
      #expect(try await fixture.handoff(newer.created[1]).waiting?.reason == .after)
      let deletion = try await fixture.ledger.delete(
        newer.localIdentifier,
        force: true,
        reason: "test"
      )
      #expect(Set(deletion.ended.map(\.id)) == Set(newer.created))
      for id in newer.created {
        #expect(try await fixture.handoff(id).error?.code == .assetDeleted)
      }
    }
  }
}

extension HandingOrder {
  static let socialAfterArchive = HandingOrder([.archive: [], .social: [.archive]])
  static let chain = HandingOrder([.social: [.archive], .third: [.social]])

  init(_ after: [DestinationName: [DestinationName]], use name: RenditionName? = nil) {
    self.init(
      after.map { destination, after in
        var settings = DestinationSettings(name: destination, transport: .exec, command: [])
        settings.after = after
        settings.rendition = destination == .social ? name : nil
        return settings
      }
    )
  }
}

extension LedgerFixture {
  func submit(_ claimed: ClaimedHandoff, ceiling: Timestamp? = nil) async throws {
    try await ledger.recordSubmission(
      claimed.handoff.id,
      leaseID: claimed.leaseID,
      ceiling: ceiling
    )
  }
}
