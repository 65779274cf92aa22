import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("What was told is not told again", .timeLimit(.minutes(2)))
struct NoticeConditionTests {
  private static func draft(
    _ condition: NoticeDraft.Condition?,
    _ kind: Notice.Kind = .refusedExport
  ) -> NoticeDraft {
    NoticeDraft(kind, subject: "/e/1.mp4", condition: condition, body: ["reason": .string("no")])
  }

  @Test("The same refusal is one notice to each callback id, also after it was delivered")
  func once() async throws {
    try await NoticeFixture.with { fixture in
      let draft = Self.draft(.once("1.mp4: no"))
      for _ in 1...3 {
        try await fixture.ledger.notify([
          AddressedNotice(draft, for: .alert), AddressedNotice(draft, for: .sender),
        ])
      }
      #expect(try await fixture.count() == 2)
      for callback in [CallbackID.alert, .sender] {
        let notice = try #require(
          try await fixture.ledger.nextNotices(for: callback, limit: 9).first
        )
        try await fixture.ledger.recordDelivery(of: notice.id)
      }
      try await fixture.ledger.notify([AddressedNotice(draft, for: .alert)])
      #expect(try await fixture.count() == 2)
      try await fixture.ledger.notify([
        AddressedNotice(Self.draft(.once("1.mp4: other")), for: .alert)
      ])
      #expect(try await fixture.count() == 3)
    }
  }

  @Test("What lasts is told anew only after its end")
  func lasting() async throws {
    try await NoticeFixture.with { fixture in
      let low = AddressedNotice(Self.draft(.lasting("low_space"), .lowSpace), for: .alert)
      try await fixture.ledger.notify([low])
      try await fixture.ledger.notify([low])
      #expect(try await fixture.count() == 1)
      try await fixture.ledger.endConditions([.lasting("low_space"), .lasting("unknown")])
      try await fixture.ledger.notify([low])
      #expect(try await fixture.count() == 2)
    }
  }

  @Test("What an earlier broker found ends unless it is found again")
  func restart() async throws {
    try await NoticeFixture.with { fixture in
      let notices = [
        AddressedNotice(Self.draft(.lasting("a"), .lowSpace), for: .alert),
        AddressedNotice(Self.draft(.lasting("b"), .lowSpace), for: .alert),
        AddressedNotice(Self.draft(.lasting("c"), .damagedAsset), for: .alert),
        AddressedNotice(Self.draft(.once("d")), for: .alert),
      ]
      try await fixture.ledger.notify(notices)
      try await fixture.ledger.endConditions(of: [.lowSpace], except: [.lasting("b")])
      try await fixture.ledger.notify(notices)
      // Only a is told a second time.
      #expect(try await fixture.count() == 5)
    }
  }

  @Test("A damaged asset is told once until it is sound again")
  func damage() async throws {
    try await NoticeFixture.with { fixture in
      let identifier = try await fixture.base.add(1).localIdentifier
      for status in [Asset.Status.damaged, .unavailable, .damaged, .present, .damaged] {
        try await fixture.ledger.setStatus(status, of: identifier)
      }
      let told = try await fixture.ledger.nextNotices(for: .alert, limit: 9)
      // Of one subject only the first is due.
      #expect(told.map(\.kind) == [.damagedAsset])
      #expect(told.first?.subject == identifier.text)
      #expect(try await fixture.count() == 2)
    }
  }

  @Test("A notice to an id that is not configured any more waits a day, and then is listed")
  func unknownCallback() async throws {
    try await NoticeFixture.with { fixture in
      try await fixture.ledger.notify([
        AddressedNotice(Self.draft(nil), for: .sender),
        AddressedNotice(Self.draft(nil), for: .alert),
      ])
      func tidy() async throws -> [Notice.State: Int] {
        _ = try await fixture.ledger.tidyNotices(
          configured: [.alert],
          patience: .seconds(86_400),
          age: .seconds(90 * 86_400)
        )
        return try await fixture.ledger.countUndelivered()
      }
      #expect(try await tidy() == [.pending: 2, .failed: 0])
      fixture.base.time.advance(.seconds(86_401))
      #expect(try await tidy() == [.pending: 1, .failed: 1])
      let failed = try #require(try await fixture.ledger.notices(.failed, limit: 9).first)
      #expect(failed.callback == .sender)
      #expect(failed.error?.hasPrefix("callback_unknown") == true)
    }
  }

  @Test("Old notices are forgotten, but not what still lasts or was found again")
  func pruning() async throws {
    try await NoticeFixture.with { fixture in
      let drafts = [
        Self.draft(nil), Self.draft(.once("gone")), Self.draft(.once("there")),
        Self.draft(.lasting("low_space"), .lowSpace),
      ]
      try await fixture.ledger.notify(drafts.map { AddressedNotice($0, for: .alert) })
      while let notice = try await fixture.ledger.nextNotices(for: .alert, limit: 1).first {
        try await fixture.ledger.recordDelivery(of: notice.id)
      }
      try await fixture.ledger.notify([AddressedNotice(Self.draft(nil), for: .alert)])
      fixture.base.time.advance(.seconds(60 * 86_400))
      try await fixture.ledger.notify([AddressedNotice(drafts[2], for: .alert)])
      fixture.base.time.advance(.seconds(31 * 86_400))
      let hasMore = try await fixture.ledger.tidyNotices(
        configured: [.alert],
        patience: .seconds(86_400),
        age: .seconds(90 * 86_400)
      )
      #expect(!hasMore)
      // There, what lasts, and the one that is still pending.
      #expect(try await fixture.count() == 3)
      #expect(try await fixture.ledger.countUndelivered()[.pending] == 1)
    }
  }
}
