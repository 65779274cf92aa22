import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import SQLite
import Testing

@Suite("Approval by a person", .timeLimit(.minutes(1)))
struct ApprovalTests {
  private static let rules = [DestinationName.archive: DestinationRules(needsApproval: true)]

  /// A ledger whose archive asks for approval, with one handoff that waits for it.
  private func waiting(
    _ body: nonisolated(nonsending) (LedgerFixture, Handoff.ID) async throws -> Void
  ) async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.ledger.setRules(Self.rules)
      let id = try #require(try await fixture.add(1, to: [.archive]).created.first)
      try await body(fixture, id)
    }
  }

  @Test("it waits until it is approved, and who did so is in the chain")
  func approves() async throws {
    try await waiting { fixture, id in
      #expect(try await fixture.handoff(id).waiting == .init(.approval))
      fixture.time.advance(.seconds(1_000_000))
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.waitingForApproval(limit: 9).map(\.id) == [id])
      let done = try await fixture.ledger.approve(id, expecting: nil, by: 7)
      #expect(!done.wasApproved)
      #expect(done.handoff.waiting == nil)
      #expect(done.approval.isValid)
      let again = try await fixture.ledger.approve(id, expecting: nil, by: 8)
      #expect(again.wasApproved)
      let digest = done.approval.digest.hex
      #expect(try fixture.events("event = 'approved'") == ["approved by uid 7: \(digest)"])
      #expect(try await fixture.claim().map(\.handoff.id) == [id])
      let verdict = try await fixture.ledger.verifyChain()
      #expect("\(verdict)".contains("intact"), "\(verdict)")
    }
  }

  @Test("what was seen must be what is there")
  func expects() async throws {
    try await waiting { fixture, id in
      let known = try #require(try await fixture.ledger.approval(of: id))
      for wrong in [
        "", "abc", String(known.digest.hex.prefix(15)), String(repeating: "0", count: 64),
      ] {
        await #expect(throws: ApprovalRefused.self) {
          try await fixture.ledger.approve(id, expecting: wrong, by: nil)
        }
      }
      let prefix = String(known.digest.hex.prefix(16))
      #expect(try await !fixture.ledger.approve(id, expecting: prefix, by: nil).wasApproved)
    }
  }

  @Test(
    "whatever the receiver gets to see is bound: a change before the claim voids the approval",
    arguments: [
      "UPDATE handoffs SET title = 'other'", "UPDATE handoffs SET sync_publish = 1",
      "UPDATE handoffs SET callback_id = 'x'", "UPDATE handoffs SET metadata = '{}'",
      "UPDATE handoffs SET publish_at = 5",
      "UPDATE handoffs SET expires_at = 1900000000000, is_expiry_moment = 1",
      "UPDATE assets SET digest = randomblob (32)",
      "UPDATE approvals SET digest = randomblob (32)",
    ]
  )
  func bound(change: String) async throws {
    try await waiting { fixture, id in
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      try fixture.tamper(change)
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.handoff(id).waiting?.reason == .approval)
      let approval = try #require(try await fixture.ledger.approval(of: id))
      #expect(approval.voidedAt == fixture.time.now)
      #expect(try fixture.events("event = 'approval_void'").count == 1)
      // A person looks again, and lets go what is there now.
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      #expect(try await fixture.claim().count == 1)
    }
  }

  @Test("it is looked at once more right before the submission")
  func beforeSubmission() async throws {
    try await waiting { fixture, id in
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      let claimed = try #require(try await fixture.claim().first)
      try fixture.tamper("UPDATE handoffs SET title = 'other'")
      #expect(try await !fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID))
      let handoff = try await fixture.handoff(id)
      #expect(handoff.status == .pending)
      #expect(handoff.waiting == .init(.approval))
      #expect(handoff.submittedAt == nil)
    }
  }

  @Test("an expiry that moves with the clock is no change; a retry keeps the approval")
  func retries() async throws {
    try await waiting { fixture, id in
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      try fixture.tamper("UPDATE handoffs SET expires_at = 1900000000000")
      let claimed = try #require(try await fixture.claim().first)
      #expect(try await fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID))
      _ = try await fixture.answer(claimed, .failure(.busy))
      fixture.time.advance(.seconds(60))
      let again = try #require(try await fixture.claim().first)
      #expect(again.request.attempt == 2)
      try await fixture.ledger.recordSubmission(id, leaseID: again.leaseID)
      _ = try await fixture.answer(again, .failure(ResultError(.auth, "no", effect: .none)))
      #expect(try await fixture.ledger.retry(id).status == .pending)
      #expect(try await fixture.claim().count == 1)
    }
  }

  @Test("one that is made again needs its own approval, and keeps its moment")
  func again() async throws {
    try await waiting { fixture, id in
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      var order = HandoffOrder(
        destination: .archive,
        localIdentifiers: try await fixture.handoff(id).localIdentifiers,
        isAutomatic: false
      )
      let moment = fixture.time.now.advanced(by: .seconds(100))
      order.publishAt = moment
      let second = try await fixture.ledger.create(order, again: true).handoff
      #expect(second.waiting == .init(.approval))
      let approved = try await fixture.ledger.approve(second.id, expecting: nil, by: nil).handoff
      #expect(approved.waiting == .init(.publishAt, until: moment))
      #expect(try await fixture.claim(limit: 9).map(\.handoff.id) == [id])
      fixture.time.advance(.seconds(100))
      #expect(try await fixture.claim(limit: 9).map(\.handoff.id) == [second.id])
    }
  }

  @Test("what cannot be approved says why", arguments: ["leased", "cancelled", "free"])
  func refuses(state: String) async throws {
    try await waiting { fixture, id in
      _ = try await fixture.ledger.approve(id, expecting: nil, by: nil)
      switch state {
      case "leased": _ = try await fixture.claim()
      case "cancelled": _ = try await fixture.ledger.cancel(id) { _ in .nobody }
      default: try await fixture.ledger.setRules([:])
      }
      let error = await #expect(throws: ApprovalRefused.self) {
        try await fixture.ledger.approve(id, expecting: nil, by: nil)
      }
      let words = state == "free" ? "asks for no approval" : "it is \(state)"
      #expect(error?.description.contains(words) == true)
    }
  }

  @Test(
    "turned on it holds what is pending, turned off it lets all go, and a restart changes nothing"
  )
  func rules() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      var fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1, to: [.archive])
      try await fixture.add(2, to: [.archive])
      let claimed = try #require(try await fixture.claim().first)
      #expect(try await fixture.ledger.setRules(Self.rules) == [.archive])
      #expect(try await fixture.ledger.setRules(Self.rules).isEmpty)
      #expect(try await fixture.claim().isEmpty)
      // Claimed before the change, and not sent.
      let id = claimed.handoff.id
      #expect(try await !fixture.ledger.recordSubmission(id, leaseID: claimed.leaseID))
      try await fixture.ledger.close()
      fixture = try await LedgerFixture.open(directory, time: fixture.time)
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.waitingForApproval(limit: 9).count == 2)
      try await fixture.ledger.setRules([:])
      #expect(try await fixture.ledger.waitingForApproval(limit: 9).isEmpty)
      #expect(try await fixture.claim(limit: 9).count == 2)
      try await fixture.ledger.close()
    }
  }
}
