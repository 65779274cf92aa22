import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

@Suite("A backup of the ledger", .timeLimit(.minutes(3)))
struct BackupTests {
  @Test("Copies made while many write are each one state, with the head that belongs to it")
  func underLoad() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(0, to: [.archive])
      let copies = try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            for number in 0..<100 {
              try await fixture.add(1 + writer * 100 + number, to: [.archive, .social])
            }
          }
        }
        var copies: [BackupCopy] = []
        for number in 0..<5 {
          copies.append(try await BackupCopy.make(of: fixture, number))
        }
        try await group.waitForAll()
        copies.append(try await BackupCopy.make(of: fixture, 5))
        return copies
      }
      for copy in copies {
        #expect(try Directory.entries(of: copy.path).count == 2, "no log, no key")
        let reader = try await copy.open(fixture)
        #expect(try await reader.counts().assets[.present] == Int(copy.contents.assets))
        guard case .intact(let events) = try await reader.verifyChain() else {
          Issue.record("the chain is broken")
          return
        }
        #expect(events >= copy.contents.events)
        try await reader.close()
      }
      #expect(copies.last?.contents.assets == 401)
      #expect(copies.map(\.contents.events) == copies.map(\.contents.events).sorted())
    }
  }

  @Test("Neither the copy nor a key made for it gives a live token; with the key it does")
  func tokens() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.submitted()
      let token = sent.request.state
      let bare = try await BackupCopy.make(of: fixture, 1)
      let code = try #require(token.revealed.split(separator: ".").last)
      let bytes = try FileDescriptor.open(bare.path.appending("ledger.db"), O_RDONLY)
        .readAll(limit: 1 << 24)
      #expect(!String(decoding: bytes, as: Unicode.ASCII.self).contains(code))
      // The random bits alone, under any other key, are another token.
      let other = try await bare.open(fixture, withKeyOf: nil)
      let derived = try #require(try await other.openHandoffs(destination: .archive).first)
      #expect(!derived.request.state.matches(token))
      try await other.close()

      let whole = try await BackupCopy.make(of: fixture, 2, withKey: true)
      let key = whole.path.appending("ledger.key")
      #expect(try FileDescriptor.open(key, O_RDONLY).status().permissions == 0o600)
      let ledger = try await whole.open(fixture, withKeyOf: nil)
      let same = try #require(try await ledger.openHandoffs(destination: .archive).first)
      #expect(same.request.state.matches(token))
      try await ledger.close()
    }
  }

  @Test("Damage that a start would not look for is found by the copy's own check")
  func damaged() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...20 { try await fixture.add(number, to: [.archive]) }
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try connection.execute(BackupCopy.unlocked)
      try connection.execute("UPDATE events SET detail = 'another' WHERE seq = 3")
      try connection.close()
      await #expect(throws: LedgerError.self) { _ = try await BackupCopy.make(of: fixture, 1) }
    }
  }
}

@Suite("Taking up a backup", .timeLimit(.minutes(3)))
struct StagingTests {
  @Test("What does not fit its manifest or its head, a newer one and a foreign one are refused")
  func refused() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      let older = try await BackupCopy.make(of: fixture, 0)
      try await fixture.add(2, to: [.archive])
      let changes: [(String, (BackupCopy) async throws -> Void)] = [
        ("a byte", { try $0.overwrite(at: 30_000, [1, 2, 3]) }),
        ("cut off", { try $0.run { truncate($0, 8192) } }),
        ("another head", { try $0.replace("ledger.head", from: older) }),
        ("no head", { try $0.run(on: "ledger.head") { unlink($0) } }),
        ("newer", { try $0.sql("PRAGMA user_version = 99") }),
        ("foreign", { try $0.sql("PRAGMA application_id = 1") }),
        ("an event", { try $0.sql("UPDATE events SET at = 1 WHERE seq = 2") }),
        (
          "another end",
          { try $0.sql("DELETE FROM events WHERE seq = (SELECT max (seq) FROM events)") }
        ),
      ]
      for (number, (name, change)) in changes.enumerated() {
        var copy = try await BackupCopy.make(of: fixture, number + 1)
        try await change(copy)
        // Whoever changes it would write the manifest anew, too.
        if number > 1 { copy.digest = try BackupCopy.digest(copy.path) }
        await #expect(throws: LedgerError.self, "\(name)") { _ = try await copy.stage(fixture) }
      }
    }
  }

  @Test("What was open may have ended since: no receiver's word sends it again, only a person")
  func open() async throws {
    try await LedgerFixture.with { fixture in
      let accepted = try await fixture.submitted(1)
      _ = try await fixture.ledger.recordAcceptance(accepted.handoff.id)
      let needing = try await fixture.submitted(2)
      _ = try await fixture.ledger.recordNeedOfUser(needing.handoff.id, "log in")
      let submitted = try await fixture.submitted(3)
      let done = try await fixture.submitted(4)
      _ = try await fixture.answer(done, .success(output: [:]))
      try await fixture.add(5, to: [.archive])
      let leased = try #require(try await fixture.claim().first)
      let pending = try #require(try await fixture.add(6, to: [.archive]).created.first)
      let copy = try await BackupCopy.make(of: fixture, 1)
      let ledger = try await copy.open(fixture)
      let restored = try await ledger.takeUp(
        restoredAt: fixture.time.now,
        hasNewKey: false,
        handoffsAfter: 1000
      )
      #expect(restored.count == 5)
      #expect(try await ledger.lastHandoffRow() == 1000, "after what receivers may have had")
      #expect(restored.allSatisfy { $0.status == .outcomeUnknown })
      #expect(try await ledger.handoff(done.handoff.id)?.status == .succeeded)
      #expect(try await ledger.claim(destination: .archive, limit: 9, lease: .seconds(9)).isEmpty)

      // The receiver's memory may be gone with the disk: it sends nothing again.
      for id in [pending, leased.handoff.id, submitted.handoff.id] {
        let after = try await ledger.recordKnowledge(id, .notReceived)
        #expect(after.status == .outcomeUnknown)
      }
      let late = try await ledger.consume(
        HandoffResult(state: submitted.request.state, outcome: .failure(.busy)),
        from: .archive,
        retry: .hour,
        jitter: 1
      )
      #expect(late.name == "applied")
      #expect(try await ledger.handoff(submitted.handoff.id)?.status == .outcomeUnknown)
      // It may work at one that the backup has as never sent.
      #expect(try await ledger.recordKnowledge(pending, .working).status == .accepted)
      #expect(try await ledger.recordKnowledge(pending, .notReceived).status == .outcomeUnknown)
      // A success under its old token still counts.
      let success = try await ledger.consume(
        HandoffResult(state: accepted.request.state, outcome: .success(output: [:])),
        from: .archive,
        retry: .hour,
        jitter: 1
      )
      #expect(success.name == "applied")
      #expect(try await ledger.retry(leased.handoff.id).status == .pending)
      let again = try #require(
        try await ledger.claim(destination: .archive, limit: 9, lease: .seconds(9)).first
      )
      #expect(again.handoff.id == leased.handoff.id)
      #expect(try await ledger.note(.rebuilt) == fixture.time.now)
      #expect(try await ledger.verifyChain() == .intact(events: try await ledger.position().event))
      try await ledger.close()
    }
  }

  @Test("Without its key the old tokens are dead, and the chain goes on from an event that says so")
  func newKey() async throws {
    try await LedgerFixture.with { fixture in
      let sent = try await fixture.submitted()
      let copy = try await BackupCopy.make(of: fixture, 1)
      let ledger = try await copy.open(fixture, withKeyOf: nil)
      _ = try await ledger.takeUp(
        restoredAt: fixture.time.now,
        hasNewKey: true,
        handoffsAfter: 10
      )
      let result = HandoffResult(state: sent.request.state, outcome: .success(output: [:]))
      let answer = try await ledger.consume(result, from: .archive, retry: .hour, jitter: 1)
      #expect(answer.name == "unknownState")
      // A person's retry is answered under the new one.
      #expect(try await ledger.retry(sent.handoff.id).status == .pending)
      let claim = try #require(
        try await ledger.claim(destination: .archive, limit: 1, lease: .seconds(9)).first
      )
      try await ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
      let renewed = HandoffResult(state: claim.request.state, outcome: .success(output: [:]))
      #expect(
        try await ledger.consume(renewed, from: .archive, retry: .hour, jitter: 1).name == "applied"
      )
      #expect(try await ledger.audit()?.unprovenEvents == copy.contents.events)
      let proven = try await ledger.position().event - copy.contents.events
      #expect(try await ledger.verifyChain() == .intact(events: proven))
      try await ledger.close()
      for change in [
        "UPDATE events SET detail = 'x' WHERE seq = \(copy.contents.events + 2)",
        "UPDATE meta SET value = '1' WHERE name = 'chain_start'",
        "DELETE FROM meta WHERE name = 'chain_start'",
      ] {
        let changed = try await copy.staged(change)
        guard case .broken = try await changed.verifyChain() else {
          Issue.record("\(change)")
          return
        }
        try await changed.close()
      }
    }
  }

  @Test("A ledger knows what it has passed; an older copy and another ledger have not")
  func positions() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1)
      let before = try await fixture.ledger.position()
      let copy = try await BackupCopy.make(of: fixture, 1)
      try await fixture.add(2)
      let after = try await fixture.ledger.position()
      #expect(try await fixture.ledger.hasPassed(before))
      #expect(try await fixture.ledger.hasPassed(after))
      let old = try await copy.open(fixture)
      #expect(try await old.hasPassed(before))
      #expect(try await !old.hasPassed(after))
      try await old.close()
      try await LedgerFixture.with { other in
        for number in 1...9 { try await other.add(number) }
        #expect(try await !other.ledger.hasPassed(after))
      }
    }
  }
}
