import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Testing

@Suite("HandoffLifecycle")
struct HandoffLifecycleTests {
  private static let events: [HandoffEvent] =
    [
      .claim, .release, .submit, .accept, .success, .cancelled, .refuse, .loseTrack, .notReceived,
      .needUser, .expire, .withdraw, .adopt, .retry, .sendAgain, .restore,
    ]
    + [Effect.none, .applied, .unknown].flatMap { effect in
      [.failure(effect, retry: true), .failure(effect, retry: false)]
    }

  @Test(
    "the walk of a handoff that goes well",
    arguments: [
      (HandoffStatus.pending, HandoffEvent.claim, HandoffStatus.leased),
      (.leased, .submit, .submitted), (.submitted, .accept, .accepted),
      (.accepted, .success, .succeeded), (.submitted, .success, .succeeded),
      (.submitted, .cancelled, .cancelled), (.accepted, .refuse, .refused),
    ]
  )
  func goesWell(from: HandoffStatus, event: HandoffEvent, to: HandoffStatus) throws {
    #expect(try HandoffLifecycle.status(after: event, from: from) == to)
  }

  @Test(
    "a machine's retry happens only when the failed attempt left nothing behind",
    arguments: HandoffStatus.allCases,
    [Effect.applied, .unknown]
  )
  func neverRetriesBlindly(from: HandoffStatus, effect: Effect) {
    let next = try? HandoffLifecycle.status(after: .failure(effect, retry: true), from: from)
    #expect(next != .pending)
  }

  @Test("an unknown effect waits for a person or for the receiver's word")
  func holdsUnknown() throws {
    for status in [HandoffStatus.submitted, .accepted] {
      for event in [HandoffEvent.failure(.unknown, retry: true), .loseTrack] {
        #expect(try HandoffLifecycle.status(after: event, from: status) == .outcomeUnknown)
      }
    }
    #expect(try HandoffLifecycle.status(after: .notReceived, from: .outcomeUnknown) == .pending)
    #expect(try HandoffLifecycle.status(after: .adopt, from: .outcomeUnknown) == .succeeded)
  }

  @Test("a restored ledger leaves what was open in doubt", arguments: HandoffStatus.allCases)
  func restored(from: HandoffStatus) throws {
    let next = try? HandoffLifecycle.status(after: .restore, from: from)
    #expect(next == (from.isFinal ? nil : .outcomeUnknown))
  }

  @Test(
    "final states never change, except by a person",
    arguments: HandoffStatus.allCases.filter(\.isFinal),
    Self.events
  )
  func keepsFinal(from: HandoffStatus, event: HandoffEvent) {
    if Self.isPersons(event, from) { return }
    #expect(throws: IllegalTransition(from, event)) {
      try HandoffLifecycle.status(after: event, from: from)
    }
  }

  /// A failed handoff may be retried, and what ended without its receiver's word adopted when a late
  /// result shows that it happened.
  private static func isPersons(_ event: HandoffEvent, _ status: HandoffStatus) -> Bool {
    (status == .failed && event == .retry)
      || ([.expired, .cancelled, .failed].contains(status) && event == .adopt)
  }

  @Test("nothing succeeds that was not submitted", arguments: [HandoffStatus.pending, .leased])
  func needsSubmission(from: HandoffStatus) {
    for event in Self.events where event != .restore {
      let next = try? HandoffLifecycle.status(after: event, from: from)
      #expect(next != .succeeded && next != .accepted && next != .outcomeUnknown)
    }
  }

  @Test("every state that is not final can end")
  func endsFromEverywhere() {
    for status in HandoffStatus.allCases where !status.isFinal {
      let ends = Self.events.contains { event in
        (try? HandoffLifecycle.status(after: event, from: status))?.isFinal == true
      }
      #expect(ends)
    }
  }

  @Test("a random walk ends in a final state and stays there", arguments: UInt64(1)...40)
  func walks(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var status = HandoffStatus.pending
    var submitted = false
    for _ in 0..<400 {
      guard let event = Self.events.randomElement(using: &random),
        let next = try? HandoffLifecycle.status(after: event, from: status)
      else { continue }
      #expect(!status.isFinal || Self.isPersons(event, status))
      if next == .submitted { submitted = true }
      if next == .succeeded, event != .adopt { #expect(submitted) }
      status = next
    }
  }
}
