import HandoffCore
import HandoffProtocol
import Testing

@Suite("Why a pending handoff waits")
struct WaitingReasonTests {
  private static let now = Timestamp(milliseconds: 1_800_000_000_000)

  private static func after(_ seconds: Int) -> Timestamp { now.advanced(by: .seconds(seconds)) }

  private func handoff(
    _ waiting: Handoff.Waiting?,
    _ status: HandoffStatus = .pending
  ) throws -> Handoff {
    var handoff = Handoff(
      id: Handoff.ID(row: 1),
      destination: try #require(DestinationName("social")),
      localIdentifiers: [],
      status: status,
      createdAt: Self.now
    )
    handoff.waiting = waiting
    return handoff
  }

  private func reason(
    _ waiting: Handoff.Waiting?,
    _ change: (inout DestinationStanding) -> Void = { _ in }
  ) throws -> Handoff.Waiting? {
    var standing = DestinationStanding()
    standing.condition = .up
    change(&standing)
    return try handoff(waiting).waiting(under: standing, at: Self.now)
  }

  @Test("every pending handoff has a reason while a broker runs", arguments: WaitingReason.allCases)
  func always(recorded: WaitingReason) throws {
    for until in [nil, Self.after(-5), Self.after(5)] {
      #expect(try reason(.init(recorded, until: until)) != nil)
    }
    #expect(try reason(nil) == .init(.slot))
  }

  @Test("what only a person or another handoff ends comes first")
  func persons() throws {
    for recorded in [WaitingReason.approval, .after, .superseded] {
      #expect(
        try reason(.init(recorded)) { standing in
          standing.isPaused = true
          standing.condition = .circuitOpen
        } == .init(recorded)
      )
    }
    #expect(
      try reason(.init(.backoff, until: Self.after(5))) { $0.isPaused = true } == .init(.paused)
    )
    #expect(try reason(.init(.approval)) { $0.isConfigured = false } == .init(.destinationUnknown))
  }

  @Test("of several moments the last counts")
  func moments() throws {
    let backoff = Handoff.Waiting(.backoff, until: Self.after(5))
    #expect(try reason(backoff) == backoff)
    #expect(
      try reason(backoff) { $0.quotaFreeAt = Self.after(9) } == .init(.quota, until: Self.after(9))
    )
    #expect(try reason(backoff) { $0.quotaFreeAt = Self.after(3) } == backoff)
    #expect(try reason(backoff) { $0.isLibraryAway = true } == backoff)
    let circuit = try reason(backoff) { standing in
      standing.condition = .circuitOpen
      standing.until = Self.after(7)
    }
    #expect(circuit == .init(.circuitOpen, until: Self.after(7)))
  }

  @Test("what is due says what keeps it: the destination, the library, or the others before it")
  func due() throws {
    let past = Handoff.Waiting(.backoff, until: Self.after(-1))
    #expect(try reason(past) == .init(.slot))
    #expect(try reason(past) { $0.condition = .down } == .init(.backoff))
    #expect(try reason(past) { $0.isLibraryAway = true } == .init(.libraryUnavailable))
    #expect(try reason(past) { $0.condition = .circuitOpen } == .init(.circuitOpen))
  }

  @Test("without a broker it says what the ledger says")
  func noBroker() throws {
    #expect(try reason(nil) { $0.condition = .unknown } == nil)
    let paused = try reason(nil) { standing in
      standing.condition = .unknown
      standing.isPaused = true
    }
    #expect(paused == .init(.paused))
  }

  @Test(
    "what is not pending waits for nothing but its destination",
    arguments: HandoffStatus.allCases
  )
  func others(status: HandoffStatus) throws {
    guard status != .pending else { return }
    var standing = DestinationStanding()
    standing.isPaused = true
    #expect(try handoff(nil, status).waiting(under: standing, at: Self.now) == nil)
    standing.isConfigured = false
    let unknown: Handoff.Waiting? = status.isFinal ? nil : .init(.destinationUnknown)
    #expect(try handoff(nil, status).waiting(under: standing, at: Self.now) == unknown)
  }
}
