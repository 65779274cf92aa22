import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Paths
import SQLite
import Synchronization
import Testing

@Suite("Notices in the ledger", .timeLimit(.minutes(2)))
struct NoticeTests {
  @Test("Each end of a handoff is told to its callback id, together with the end itself")
  func ends() async throws {
    try await NoticeFixture.with { fixture in
      let done = try await fixture.submitted(1)
      _ = try await fixture.base.answer(done, .success(output: ["url": .string("u")]))
      let cancelled = try await fixture.submitted(2)
      _ = try await fixture.base.answer(cancelled, .cancelled(nil))
      let failed = try await fixture.submitted(3)
      _ = try await fixture.base.answer(
        failed,
        .failure(ResultError(.auth, "no", effect: .none, retry: .never))
      )
      let refused = try await fixture.submitted(4)
      _ = try await fixture.base.answer(
        refused,
        .failure(ResultError(.unsupportedMedia, "no", effect: .none, retry: .never))
      )
      let withdrawn = try await fixture.submitted(5)
      _ = try await fixture.ledger.cancel(withdrawn.handoff.id)
      let late = try await fixture.submitted(6, ceiling: fixture.base.time.now)
      _ = try await fixture.ledger.expireDue()
      let all = try await fixture.ledger.nextNotices(for: .sender, limit: 100)
      #expect(
        all.map { $0.body["status"]?.text } == [
          "succeeded", "cancelled", "failed", "refused", "cancelled", "expired",
        ]
      )
      #expect(
        all.map { $0.body["result"]?.text } == [
          "success", "cancelled", "failure", "failure", "cancelled", "failure",
        ]
      )
      #expect(all.first?.body["output"]?["url"]?.text == "u")
      #expect(all.first?.body["key"]?.text == "key 1")
      #expect(all.last?.subject == late.handoff.id.description)
      #expect(all.allSatisfy { $0.kind == .result && $0.state == .pending })
      #expect(try await fixture.ledger.nextNotices(for: .alert, limit: 100) == [])
      let words = all.map { "\($0)" }.joined()
      #expect(!words.contains(done.request.state.revealed))
    }
  }

  @Test("A handoff without a callback id has no notice, and wakes nobody")
  func nobody() async throws {
    try await NoticeFixture.with { fixture in
      let claimed = try await fixture.base.submitted()
      _ = try await fixture.base.answer(claimed, .success(output: [:]))
      #expect(try await fixture.count() == 0)
      #expect(fixture.rung.all.isEmpty)
    }
  }

  @Test("A refused transition tells nothing")
  func undone() async throws {
    try await NoticeFixture.with { fixture in
      let claimed = try await fixture.submitted(1)
      _ = try await fixture.base.answer(claimed, .success(output: [:]))
      #expect(try await fixture.count() == 1)
      await #expect(throws: LedgerError.self) {
        try await fixture.ledger.cancel(claimed.handoff.id)
      }
      #expect(try await fixture.count() == 1)
    }
  }

  @Test("The alert is told of a handoff that needs a person, once each time")
  func doubts() async throws {
    try await NoticeFixture.with { fixture in
      let unknown = try await fixture.submitted(1)
      _ = try await fixture.base.answer(unknown, .failure(.crashed))
      _ = try await fixture.ledger.recordKnowledge(unknown.handoff.id, .unknown)
      _ = try await fixture.base.answer(unknown, .failure(.crashed))
      let waiting = try await fixture.submitted(2)
      _ = try await fixture.ledger.recordNeedOfUser(waiting.handoff.id)
      let told = try await fixture.ledger.nextNotices(for: .alert, limit: 100)
      #expect(told.map(\.kind) == [.outcomeUnknown, .needsUser])
      #expect(told.map { $0.body["handoff_id"]?.text } == ["h1", "h2"])
      #expect(told.first?.body["reason"]?.text == "signal 11")
      // Its sender hears of the end only.
      #expect(try await fixture.ledger.nextNotices(for: .sender, limit: 100) == [])
      _ = try await fixture.ledger.adopt(unknown.handoff.id)
      let heard = try await fixture.ledger.nextNotices(for: .sender, limit: 100)
      #expect(heard.map { $0.body["status"]?.text } == ["succeeded"])
    }
  }

  @Test("A need is told once with its words, and not more often than once a minute")
  func needs() async throws {
    try await NoticeFixture.with { fixture in
      let id = try await fixture.submitted(1).handoff.id
      func toldNeeds() async throws -> [String?] {
        try await fixture.ledger.nextNotices(for: .alert, limit: 100).map {
          $0.body["needs_user"]?.text
        }
      }
      for _ in 1...5 {
        _ = try await fixture.ledger.recordNeedOfUser(id, "sign in")
        _ = try await fixture.ledger.recordUserDone(id)
      }
      _ = try await fixture.ledger.recordNeedOfUser(id, "make room")
      #expect(try await fixture.count() == 1)
      #expect(try await toldNeeds() == ["sign in"])
      fixture.base.time.advance(.seconds(61))
      _ = try await fixture.ledger.recordNeedOfUser(id, "sign in")
      #expect(try await fixture.count() == 1)
      _ = try await fixture.ledger.recordNeedOfUser(id, "enter the code")
      #expect(try await fixture.count() == 2)
    }
  }

  @Test("Notices of one handoff come in order; those of others do not wait")
  func order() async throws {
    try await NoticeFixture.with { fixture in
      let first = try await fixture.submitted(1)
      let never = ResultError(.auth, "no", effect: .none, retry: .never)
      _ = try await fixture.base.answer(first, .failure(never))
      _ = try await fixture.ledger.retry(first.handoff.id)
      let again = try #require(try await fixture.base.claim().first)
      try await fixture.ledger.recordSubmission(again.handoff.id, leaseID: again.leaseID)
      _ = try await fixture.base.answer(again, .success(output: [:]))
      let other = try await fixture.submitted(2)
      _ = try await fixture.base.answer(other, .success(output: [:]))
      #expect(try await fixture.next() == ["h1 failed", "h2 succeeded"])
      let failed = try #require(try await fixture.ledger.notices(of: first.handoff.id).first)
      _ = try await fixture.fail(failed.id)
      #expect(try await fixture.next() == ["h2 succeeded", "h1 failed"])
      try await fixture.ledger.recordDelivery(of: failed.id)
      #expect(try await fixture.next() == ["h1 succeeded", "h2 succeeded"])
    }
  }

  @Test("A try that failed is made again, later each time, up to a day; then a person decides")
  func failing() async throws {
    try await NoticeFixture.with { fixture in
      let claimed = try await fixture.submitted(1)
      _ = try await fixture.base.answer(claimed, .success(output: [:]))
      let id = try #require(try await fixture.ledger.nextNotices(for: .sender, limit: 1).first).id
      var notice = try await fixture.fail(id)
      #expect(notice.dueAt.since(fixture.base.time.now) == .seconds(2))
      #expect(notice.error == "exit 1")
      notice = try await fixture.fail(id)
      #expect(notice.dueAt.since(fixture.base.time.now) == .seconds(4))
      await #expect(throws: LedgerError.noticeNotFailed(id, .pending)) {
        try await fixture.ledger.retry(id)
      }
      fixture.base.time.advance(.seconds(86_400))
      notice = try await fixture.fail(id)
      #expect(notice.state == .failed)
      #expect(notice.attempts == 3)
      #expect(try await fixture.ledger.countUndelivered() == [.pending: 0, .failed: 1])
      #expect(try await fixture.ledger.notices(.failed, limit: 9).map(\.id) == [id])
      #expect(try await fixture.next() == [])
      _ = try await fixture.ledger.retry(id)
      #expect(try await fixture.next() == ["h1 succeeded"])
      fixture.base.time.advance(.seconds(5))
      #expect(try await fixture.fail(id).state == .pending)
      fixture.base.time.advance(.seconds(86_400))
      #expect(try await fixture.fail(id).state == .failed)
      #expect(try await fixture.ledger.dismiss(id).state == .delivered)
      #expect(try await fixture.ledger.countUndelivered() == [.pending: 0, .failed: 0])
      await #expect(throws: LedgerError.unknownNotice(Notice.ID(row: 99))) {
        try await fixture.ledger.dismiss(Notice.ID(row: 99))
      }
    }
  }

  @Test("What was brought and not recorded is brought again by the next broker")
  func crash() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await NoticeFixture.open(directory)
      let claimed = try await fixture.submitted(1)
      _ = try await fixture.base.answer(claimed, .success(output: [:]))
      let before = try await fixture.ledger.nextNotices(for: .sender, limit: 9)
      #expect(before.count == 1)
      // The first broker dies here: nothing of what it was about to do is in the ledger.
      let next = try await NoticeFixture.open(directory)
      #expect(try await next.ledger.nextNotices(for: .sender, limit: 9) == before)
      try await next.ledger.recordDelivery(of: before[0].id)
      #expect(try await next.ledger.nextNotices(for: .sender, limit: 9) == [])
      #expect(try await next.ledger.notice(before[0].id)?.state == .delivered)
      try await next.ledger.close()
      try await fixture.ledger.close()
    }
  }

  @Test("Who delivers is woken by the commit, and by what becomes of a notice")
  func waking() async throws {
    try await NoticeFixture.with { fixture in
      let claimed = try await fixture.submitted(1)
      _ = try await fixture.base.answer(claimed, .success(output: [:]))
      #expect(fixture.rung.all == [[.sender]])
      let id = try #require(try await fixture.ledger.nextNotices(for: .sender, limit: 1).first).id
      _ = try await fixture.fail(id)
      try await fixture.ledger.recordDelivery(of: id)
      #expect(fixture.rung.all == [[.sender], [.sender], [.sender]])
    }
  }
}

extension CallbackID {
  static let sender = named("sender")
  static let alert = named("alert")

  private static func named(_ text: String) -> CallbackID {
    guard let id = CallbackID(text) else { preconditionFailure("\(text) is no id") }
    return id
  }
}

/// A ledger with an alert, and handoffs that have a callback id.
struct NoticeFixture: Sendable {
  let base: LedgerFixture
  let rung: Captured<Set<CallbackID>>

  var ledger: Ledger { base.ledger }

  static func open(_ directory: BytePath) async throws -> NoticeFixture {
    let time = ManualTime()
    let rung = Captured<Set<CallbackID>>()
    let ledger = try await Ledger.open(
      directory: directory,
      logger: .silent,
      now: { time.now },
      notices: NoticeRouting(alert: .alert, onCommit: rung.append)
    )
    let base = LedgerFixture(ledger: ledger, directory: directory, time: time)
    return NoticeFixture(base: base, rung: rung)
  }

  nonisolated(nonsending) static func with(
    _ body: nonisolated(nonsending) (NoticeFixture) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await open(directory)
      try await body(fixture)
      try await fixture.ledger.close()
    }
  }

  /// A submitted handoff of a fresh asset, whose sender wants to hear.
  func submitted(_ number: Int, ceiling: Timestamp? = nil) async throws -> ClaimedHandoff {
    let asset = try await base.add(number).localIdentifier
    var order = HandoffOrder(
      destination: .archive,
      localIdentifiers: [asset],
      isAutomatic: false
    )
    order.callbackID = .sender
    order.key = "key \(number)"
    _ = try await ledger.create(order)
    let claimed = try #require(try await base.claim().first)
    try await ledger.recordSubmission(
      claimed.handoff.id,
      leaseID: claimed.leaseID,
      ceiling: ceiling
    )
    return claimed
  }

  func fail(_ id: Notice.ID) async throws -> Notice {
    let retry = RetryPolicy(limit: .seconds(86_400), first: .seconds(2), maximum: .seconds(900))
    return try await ledger.recordFailedDelivery(of: id, "exit 1", retry: retry, jitter: 1)
  }

  /// What the sender is told next, as `h1 failed`.
  func next() async throws -> [String] {
    try await ledger.nextNotices(for: .sender, limit: 9).map {
      "\($0.subject) \($0.body["status"]?.text ?? "")"
    }
  }

  /// The rows of the table.
  func count() async throws -> Int64 {
    let connection = try Connection(base.database, .read, busyTimeout: .seconds(5))
    let count = try connection.first(SQL("SELECT count(*) FROM notices")) { row in
      try row.integer(0)
    }
    try connection.close()
    return count ?? 0
  }
}
