import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("Ordering handoffs", .timeLimit(.minutes(2)))
struct OrderTests {
  private func order(_ fixture: LedgerFixture, key: String? = nil) async throws -> HandoffOrder {
    let identifier = try await fixture.add(1).localIdentifier
    var order = HandoffOrder(
      destination: .archive,
      localIdentifiers: [identifier],
      isAutomatic: false
    )
    order.title = "Title 'with' \"quotes\" é"
    order.key = key
    order.syncPublish = true
    order.callbackID = CallbackID("editor-v1")
    order.metadata = .object(["a": .array([.integer(1), .null])])
    return order
  }

  @Test("A handoff keeps what was ordered, and its request says it")
  func kept() async throws {
    try await LedgerFixture.with { fixture in
      let order = try await order(fixture, key: "k1")
      let (handoff, isNew) = try await fixture.ledger.create(order)
      #expect(isNew)
      #expect(handoff.title == order.title)
      #expect(handoff.key == "k1")
      #expect(handoff.metadata == order.metadata)
      #expect(handoff.callbackID == order.callbackID)
      #expect(handoff.syncPublish)
      let request = try #require(try await fixture.claim().first).request
      #expect(request.localIdentifiers == order.localIdentifiers)
      #expect(request.metadata == order.metadata)
      #expect(request.attempt == 1)
    }
  }

  @Test("The same key and body give the same handoff, another body is refused")
  func idempotency() async throws {
    try await LedgerFixture.with { fixture in
      var order = try await order(fixture, key: "k1")
      let first = try await fixture.ledger.create(order)
      order.expiresAt = fixture.time.now.advanced(by: .seconds(60))
      let second = try await fixture.ledger.create(order)
      #expect(!second.isNew)
      #expect(second.handoff.id == first.handoff.id)
      order.title = nil
      let retitled = order
      await #expect(throws: LedgerError.keyReused(first.handoff.id)) {
        try await fixture.ledger.create(retitled)
      }
      #expect(try await fixture.ledger.handoffs().count == 1)
    }
  }

  @Test("Many calls with one key at the same moment make one handoff")
  func idempotencyRace() async throws {
    try await LedgerFixture.with { fixture in
      let order = try await order(fixture, key: "k1")
      let made = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<50 { group.addTask { try await fixture.ledger.create(order).isNew } }
        return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(made == 1)
    }
  }

  @Test("A pair that has succeeded is handed off once more only on purpose")
  func again() async throws {
    try await LedgerFixture.with { fixture in
      let order = try await order(fixture)
      let first = try await fixture.ledger.create(order).handoff.id
      let claimed = try #require(try await fixture.claim().first)
      try await fixture.ledger.recordSubmission(first, leaseID: claimed.leaseID)
      _ = try await fixture.answer(claimed, .success(output: [:]))
      await #expect(throws: LedgerError.alreadySucceeded(first, .succeeded)) {
        try await fixture.ledger.create(order)
      }
      #expect(try await fixture.ledger.create(order, again: true).isNew)
    }
  }

  @Test("An order for an unknown or deleted asset, for none, or for one twice is refused")
  func refused() async throws {
    try await LedgerFixture.with { fixture in
      var order = try await order(fixture)
      let known = order.localIdentifiers
      let unknown = try sampleAsset(99, at: fixture.time.now).localIdentifier
      order.localIdentifiers = known + [unknown]
      let withUnknown = order
      await #expect(throws: LedgerError.unknownAsset(unknown)) {
        try await fixture.ledger.create(withUnknown)
      }
      for identifiers in [[], known + known] {
        order.localIdentifiers = identifiers
        let malformed = order
        let detail = "no local identifier, or one twice"
        await #expect(throws: LedgerError.malformedOrder(.archive, detail: detail)) {
          try await fixture.ledger.create(malformed)
        }
      }
      order.localIdentifiers = known
      try await fixture.ledger.setStatus(.deleted, of: known[0])
      let withDeleted = order
      await #expect(throws: LedgerError.assetDeleted(known[0])) {
        try await fixture.ledger.create(withDeleted)
      }
      #expect(try await fixture.ledger.handoffs().isEmpty)
    }
  }

  @Test("The checks of an order say beforehand what making it would, and make nothing")
  func beforehand() async throws {
    try await LedgerFixture.with { fixture in
      let ledger = fixture.ledger
      var order = try await order(fixture, key: "k1")
      #expect(try await ledger.earlier(order, again: false)?.id == nil)
      #expect(try await ledger.handoff(sameAs: order)?.id == nil)
      #expect(try await ledger.handoffs().isEmpty)
      let made = try await ledger.create(order).handoff.id
      #expect(try await ledger.earlier(order, again: false)?.id == made)
      #expect(try await ledger.handoff(sameAs: order)?.id == made)
      order.title = "another"
      let retitled = order
      await #expect(throws: LedgerError.keyReused(made)) {
        try await ledger.earlier(retitled, again: true)
      }
      order.key = nil
      let keyless = order
      await #expect(throws: LedgerError.alreadySucceeded(made, .pending)) {
        try await ledger.earlier(keyless, again: false)
      }
      #expect(try await ledger.earlier(keyless, again: true)?.id == nil)
      #expect(try await ledger.handoffs().count == 1)
    }
  }

  @Test("An order whose request is larger than a request may be is refused", arguments: [1, 6])
  func size(escaped: Int) async throws {
    try await LedgerFixture.with { fixture in
      var order = try await order(fixture)
      order.expiresAt = fixture.time.now.advanced(by: .seconds(60))
      // A control character takes six bytes in JSON.
      let unit = escaped == 1 ? "a" : "\u{1}"
      order.title = String(repeating: unit, count: 15_900 / escaped)
      _ = try await fixture.ledger.create(order)
      let request = try #require(try await fixture.claim().first).request
      #expect(try WireCoder.encode(request).count <= HandoffRequest.maximumSize)

      order.title = String(repeating: unit, count: 16_384 / escaped)
      let large = order
      await #expect {
        try await fixture.ledger.create(large, again: true)
      } throws: { error in
        guard case LedgerError.malformedOrder(.archive, let detail) = error else { return false }
        return detail.contains("16384") && "\(error)".hasPrefix("malformed_request")
      }
      #expect(try await fixture.ledger.handoffs().count == 1)
    }
  }

  @Test("A handoff to be published later waits for its moment")
  func publishAt() async throws {
    try await LedgerFixture.with { fixture in
      var order = try await order(fixture)
      let moment = fixture.time.now.advanced(by: .seconds(600))
      order.publishAt = moment
      let handoff = try await fixture.ledger.create(order).handoff
      #expect(handoff.waiting == .init(.publishAt, until: moment))
      #expect(try await fixture.claim().isEmpty)
      #expect(try await fixture.ledger.nextDue(destination: .archive) == moment)
      fixture.time.advance(.seconds(600))
      #expect(try await fixture.claim().map(\.handoff.id) == [handoff.id])
    }
  }

  @Test("Several assets in one handoff keep their order")
  func several() async throws {
    try await LedgerFixture.with { fixture in
      var identifiers: [LocalIdentifier] = []
      for number in [3, 1, 2] {
        identifiers.append(try await fixture.add(number).localIdentifier)
      }
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: identifiers,
        isAutomatic: false
      )
      _ = try await fixture.ledger.create(order)
      #expect(try await fixture.claim().first?.request.localIdentifiers == identifiers)
    }
  }
}
