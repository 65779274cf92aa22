import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Paths
import Synchronization
import Testing

/// A wall clock that can be set, beside the boot clock that cannot.
private final class TwoClocks: Sendable {
  private let elapsed = Atomic<Int64>(5_000)
  private let offset = Atomic<Int64>(1_800_000_000_000)

  var now: Timestamp {
    Timestamp(
      milliseconds: elapsed.load(ordering: .acquiring) + offset.load(ordering: .acquiring)
    )
  }

  func bootClock(_ boot: String = "first") -> BootClock {
    BootClock(boot: boot) { self.elapsed.load(ordering: .acquiring) }
  }

  func pass(_ duration: Duration) {
    elapsed.add(duration.wholeMilliseconds, ordering: .acquiringAndReleasing)
  }

  func set(by step: Duration) {
    offset.add(step.wholeMilliseconds, ordering: .acquiringAndReleasing)
  }

  func open(_ directory: BytePath, boot: String = "first") async throws -> LedgerFixture {
    let ledger = try await Ledger.open(
      directory: directory,
      logger: .silent,
      now: { self.now },
      bootClock: bootClock(boot)
    )
    return LedgerFixture(ledger: ledger, directory: directory, time: ManualTime())
  }

  /// A submitted handoff with 30 seconds, over which the clock is set.
  func submitted(_ fixture: LedgerFixture) async throws -> ClaimedHandoff {
    try await fixture.submitted(ceiling: now.advanced(by: .seconds(30)))
  }
}

/// CASES.md 86: the ledger under two clocks; the machine's suspension is time that the boot clock counts.
@Suite("86: the clock is set while handoffs are open", .timeLimit(.minutes(2)))
struct ClockTests {
  @Test("86: a step forward takes nobody's time", arguments: [false, true])
  func forward(isRestarted: Bool) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let clocks = TwoClocks()
      var fixture = try await clocks.open(directory)
      let sent = try await clocks.submitted(fixture)
      clocks.set(by: .seconds(3600))
      if isRestarted {
        try await fixture.ledger.close()
        fixture = try await clocks.open(directory)
      }
      clocks.pass(.seconds(10))
      #expect(try await fixture.ledger.expireDue().isEmpty)
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "applied")
      let sample = try await fixture.ledger.lateResults(of: sent.handoff.id)
      #expect(sample.isEmpty)
      try await fixture.ledger.close()
    }
  }

  @Test("86: a step back gives nobody more than the whole time", arguments: [false, true])
  func backward(isRestarted: Bool) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let clocks = TwoClocks()
      var fixture = try await clocks.open(directory)
      let sent = try await clocks.submitted(fixture)
      clocks.set(by: .seconds(-3600))
      if isRestarted {
        try await fixture.ledger.close()
        fixture = try await clocks.open(directory)
      }
      clocks.pass(.seconds(29))
      #expect(try await fixture.ledger.expireDue().isEmpty)
      clocks.pass(.seconds(11))
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "late")
      #expect(try await fixture.handoff(sent.handoff.id).status == .expired)
      try await fixture.ledger.close()
    }
  }

  @Test("86: a machine that starts anew with an earlier clock gives no more than the whole time")
  func reboot() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let clocks = TwoClocks()
      let first = try await clocks.open(directory)
      let sent = try await clocks.submitted(first)
      clocks.pass(.seconds(5))
      _ = try await first.ledger.recordAcceptance(sent.handoff.id)
      try await first.ledger.close()
      clocks.set(by: .seconds(-7200))
      let second = try await clocks.open(directory, boot: "second")
      clocks.pass(.seconds(24))
      #expect(try await second.ledger.expireDue().isEmpty)
      clocks.pass(.seconds(1))
      #expect(try await second.ledger.expireDue().map(\.id) == [sent.handoff.id])
      try await second.ledger.close()
    }
  }

  @Test("86: what waits to be tried again waits no longer, and a moment to publish stays")
  func waiting() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let clocks = TwoClocks()
      let fixture = try await clocks.open(directory)
      let failed = try await clocks.submitted(fixture)
      guard case .retried(_, let at) = try await fixture.answer(failed, .failure(.busy)) else {
        Issue.record("not retried")
        return
      }
      var order = HandoffOrder(
        destination: .social,
        localIdentifiers: failed.handoff.localIdentifiers,
        isAutomatic: false
      )
      let publishAt = clocks.now.advanced(by: .seconds(60))
      order.publishAt = publishAt
      let held = try await fixture.ledger.create(order).handoff.id
      clocks.set(by: .seconds(-3600))
      #expect(try await fixture.claim().isEmpty)
      let due = try await fixture.ledger.nextDue(destination: .archive)
      #expect(due == at.advanced(by: .seconds(-3600)))
      #expect(try await fixture.handoff(held).waiting?.until == publishAt)
      clocks.pass(.seconds(3))
      #expect(try await fixture.claim().map(\.handoff.id) == [failed.handoff.id])
      let kinds = try await fixture.ledger.verifyChain()
      guard case .intact = kinds else {
        Issue.record("the chain is broken")
        return
      }
      try await fixture.ledger.close()
    }
  }

  @Test("86: an expiry moves where it is a duration, and stays where the sender gave a moment")
  func expiries() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let clocks = TwoClocks()
      let fixture = try await clocks.open(directory)
      for (number, isMoment) in [(1, true), (2, false)] {
        var order = HandoffOrder(
          destination: .archive,
          localIdentifiers: [try await fixture.add(number).localIdentifier],
          isAutomatic: false
        )
        order.expiresAt = clocks.now.advanced(by: .seconds(7200))
        order.isExpiryMoment = isMoment
        let id = try await fixture.ledger.create(order).handoff.id
        clocks.set(by: .seconds(60))
        _ = try await fixture.ledger.expireDue()
        let expiry = try await fixture.handoff(id).expiresAt
        #expect(expiry == order.expiresAt?.advanced(by: isMoment ? .zero : .seconds(60)))
      }
      try await fixture.ledger.close()
    }
  }

  @Test("86: an endless deadline stays endless, and small differences are none")
  func limits() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let clocks = TwoClocks()
      let fixture = try await clocks.open(directory)
      let sent = try await fixture.submitted(ceiling: Timestamp(milliseconds: .max))
      for step in [Duration.seconds(3600), .seconds(-7200), .milliseconds(900)] {
        clocks.set(by: step)
        #expect(try await fixture.ledger.expireDue().isEmpty)
      }
      #expect(try await fixture.answer(sent, .success(output: [:])).name == "applied")
      try await fixture.ledger.close()
    }
  }
}
