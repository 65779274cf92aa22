import HandoffCore
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

/// One step: its name, the handoff that it is about (nil: all are compared), what the model says and what
/// the ledger says.
typealias WalkStep = (word: String, id: Int64?, expected: String, actual: String)

extension LedgerWalk {
  func act() async throws -> WalkStep {
    switch below(100) {
    case 0..<8: return try await make()
    case 8..<12: return try await sight()
    case 12..<26: return try await claim()
    case 26..<29: return pass()
    case 29..<31: return try await expire()
    case 31: return chance(50) ? try await setClock() : try await expire()
    case 32: return chance(25) ? try await crash() : pass()
    case 33: return try await endWaiting()
    default:
      guard let id = anyHandoff() else { return try await sight() }
      return try await act(on: id)
    }
  }

  /// A file is seen, for the first time or elsewhere too: automatic handoffs.
  private func sight() async throws -> WalkStep {
    let number = assets.isEmpty || chance(70) ? assets.count + 1 : 1 + below(assets.count)
    sightings += 1
    let wanted = chance(50) ? Self.destinations : [anyDestination]
    let missing = wanted.filter { destination in
      !automatic.contains("\(number) \(destination)")
        && !model.values.contains {
          $0.asset == number && $0.destination == destination && $0.stands
        }
    }
    let record = try await fixture.add(
      number,
      path: BytePath("/exports/\(sightings).mp4"),
      to: wanted
    )
    assets[number] = record.localIdentifier
    for (id, destination) in zip(record.created, missing) {
      automatic.insert("\(number) \(destination)")
      try await begin(id, destination, number)
    }
    return ("sight", nil, "\(missing.count)", "\(record.created.count)")
  }

  private func begin(_ id: Handoff.ID, _ destination: DestinationName, _ asset: Int) async throws {
    let token = try #require(try await ledger.sent(id)).request.state
    var handoff = ModelHandoff(id: id.row, destination: destination, asset: asset, token: token)
    handoff.wait(nil, until: nil, at: now)
    model[id.row] = handoff
  }

  /// A sender asks for a handoff.
  private func make() async throws -> WalkStep {
    guard !assets.isEmpty else { return try await sight() }
    let number = 1 + below(assets.count)
    guard let identifier = assets[number] else { return pass() }
    var order = HandoffOrder(
      destination: anyDestination,
      localIdentifiers: [identifier],
      isAutomatic: false
    )
    if chance(50) { order.key = "key \(below(60))" }
    if chance(30) { order.expiresAt = Timestamp(milliseconds: now + Int64(below(200_000))) }
    order.isExpiryMoment = chance(50)
    if chance(20) {
      order.publishAt = Timestamp(milliseconds: now + Int64(below(100_000)) - 20_000)
    }
    let again = chance(70)
    let publishAt = order.publishAt?.milliseconds
    let body = "\(number) \(order.destination) \(publishAt ?? -1)"
    let expected = expectation(of: order, body, asset: number, again: again)
    do {
      let (handoff, isNew) = try await ledger.create(order, again: again)
      guard isNew else { return ("make", handoff.id.row, expected, "h\(handoff.id.row)") }
      try await begin(handoff.id, order.destination, number)
      let id = handoff.id.row
      model[id]?.expiresAt = order.expiresAt?.milliseconds
      model[id]?.isExpiryMoment = order.isExpiryMoment
      model[id]?.publishAt = publishAt
      if let publishAt, publishAt > now {
        model[id]?.wait("publish_at", until: publishAt, at: now)
      }
      if let key = order.key { keys[key] = (id, body) }
      return ("make", id, expected, "new")
    } catch let error as LedgerError {
      return ("make", nil, expected, Self.name(error))
    }
  }

  private func expectation(
    of order: HandoffOrder,
    _ body: String,
    asset: Int,
    again: Bool
  ) -> String {
    if let known = order.key.flatMap({ keys[$0] }) {
      return known.body == body ? "h\(known.id)" : "keyReused"
    }
    let stands = model.values.contains {
      $0.asset == asset && $0.destination == order.destination && $0.stands
    }
    return stands && !again ? "alreadySucceeded" : "new"
  }

  private func claim() async throws -> WalkStep {
    let destination = anyDestination
    let limit = 1 + below(3)
    let due = model.values.filter { $0.destination == destination && $0.isClaimable(at: now) }
      .sorted { ($0.due ?? 0, $0.id) < ($1.due ?? 0, $1.id) }.prefix(limit).map(\.id)
    let claimed = try await ledger.claim(
      destination: destination,
      limit: limit,
      lease: .seconds(60)
    )
    for claim in claimed {
      let id = claim.handoff.id.row
      #expect(model[id]?.token.matches(claim.request.state) == true)
      guard var handoff = model[id] else { continue }
      handoff.enter("leased")
      handoff.attempts += 1
      handoff.lease = claim.leaseID
      handoff.leaseUntil = now + 60_000
      handoff.firstAttempt = handoff.firstAttempt ?? now
      model[id] = handoff
    }
    return ("claim", nil, "\(due)", "\(claimed.map(\.handoff.id.row))")
  }

  /// Time goes by; nothing happens.
  private func pass() -> WalkStep {
    clocks.pass(Int64(chance(90) ? below(8_000) : below(300_000)))
    return ("pass", 0, "", "")
  }

  /// Somebody sets the wall clock, and the ledger hears of it with its next transaction.
  private func setClock() async throws -> WalkStep {
    let step = Int64(2_000 + below(7_200_000)) * (chance(50) ? 1 : -1)
    clocks.set(by: step)
    for id in model.keys { model[id]?.move(by: step) }
    return try await expire()
  }

  private func expire() async throws -> WalkStep {
    for (id, handoff) in model where handoff.status == "leased" {
      guard let until = handoff.leaseUntil, until <= now else { continue }
      model[id]?.comeBackUnsent(nil, until: nil, at: now)
    }
    let overdue = model.values.filter { !$0.isFinal && $0.isOverdue(at: now) }.map(\.id).sorted()
    for id in overdue { model[id]?.expire() }
    let expired = try await ledger.expireDue().map(\.id.row)
    return ("expire", nil, "\(overdue)", "\(expired)")
  }

  private func endWaiting() async throws -> WalkStep {
    let destination = anyDestination
    let waiting = model.values.filter {
      $0.status == "pending" && $0.waiting == "paused" && $0.destination == destination
    }
    for handoff in waiting { model[handoff.id]?.wait(nil, until: nil, at: now) }
    let count = try await ledger.endWaiting(.paused, destination: destination)
    return ("end waiting", nil, "\(waiting.count)", "\(count)")
  }

  /// The broker dies: what is on the disk is all that the next one has.
  ///
  /// Now and then it is only stopped.
  private func crash() async throws -> WalkStep {
    crashes += 1
    let old = fixture.directory
    let next = root.appending("\(crashes)")
    try Directory.create(next)
    let former = ledger
    if chance(30) { try await former.close() }
    for entry in try Directory.entries(of: old) where !entry.name.lossyText.hasSuffix("-shm") {
      let bytes = try FileDescriptor.open(old.appending(entry.name), 0).readAll(limit: 1 << 28)
      try DurableFile.write(bytes, to: next.appending(entry.name), permissions: 0o600)
    }
    try database.close()
    do { try await former.close() } catch {}
    (fixture, database) = try await Self.open(next, clocks)
    for (id, handoff) in model where handoff.status == "leased" {
      model[id]?.comeBackUnsent(nil, until: nil, at: now)
    }
    let held = model.values.filter(\.isHeld).map(\.id).sorted()
    let recovered = try await ledger.recoverAtStart().map(\.handoff.id.row)
    guard case .intact = try await ledger.verifyChain() else {
      return ("crash", nil, "an intact chain", "a broken one")
    }
    return ("crash", nil, "\(held)", "\(recovered)")
  }

  static func name(_ error: LedgerError) -> String {
    switch error {
    case .leaseLost: "leaseLost"
    case .keyReused: "keyReused"
    case .alreadySucceeded: "alreadySucceeded"
    case .hasEnded: "hasEnded"
    case .illegal: "illegal"
    default: "\(error)"
    }
  }
}
