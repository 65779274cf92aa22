import HandoffCore
import HandoffProtocol
import Ledger
import Paths
import Testing

@Suite("Packages in the ledger", .timeLimit(.minutes(2)))
struct PackageLedgerTests {
  private let path: BytePath = "/exports/job"

  private func orders(_ destinations: [DestinationName]) -> [HandoffOrder] {
    destinations.map { HandoffOrder(destination: $0, localIdentifiers: [], isAutomatic: true) }
  }

  private func members(
    _ numbers: [Int],
    in fixture: LedgerFixture
  ) async throws -> [LocalIdentifier] {
    var members: [LocalIdentifier] = []
    for number in numbers {
      let path = path.appending("\(number).mp4")
      members.append(try await fixture.add(number, path: path).localIdentifier)
    }
    return members
  }

  @Test("a package is one handoff of all its assets for each destination, and only once")
  func once() async throws {
    try await LedgerFixture.with { fixture in
      let members = try await members([3, 1, 2], in: fixture)
      let orders = orders([.archive, .social])
      let record = try await fixture.ledger.recordPackage(path, members: members, orders: orders)
      #expect(record.created.count == 2)
      for id in record.created {
        #expect(try await fixture.handoff(id).localIdentifiers == members)
      }
      let again = try await fixture.ledger.recordPackage(path, members: members, orders: orders)
      #expect(again.created.isEmpty)
      // Fewer of them, for other destinations: their chance has been.
      let fewer = try await fixture.ledger.recordPackage(
        path,
        members: [members[1]],
        orders: self.orders([.archive])
      )
      #expect(fewer.created.isEmpty)
    }
  }

  @Test("what a recorded package was not ordered for is not ordered by itself later")
  func noSecondChance() async throws {
    try await LedgerFixture.with { fixture in
      let members = try await members([1, 2], in: fixture)
      _ = try await fixture.ledger.recordPackage(path, members: members, orders: orders([.archive]))
      let later = try await fixture.ledger.recordPackage(
        path,
        members: members,
        orders: orders([.archive, .social])
      )
      #expect(later.created.isEmpty)
    }
  }

  @Test("what comes later makes a handoff of its own, without what was handed off before")
  func grows() async throws {
    try await LedgerFixture.with { fixture in
      var members = try await members([1, 2], in: fixture)
      _ = try await fixture.ledger.recordPackage(path, members: members, orders: orders([.archive]))
      members += try await self.members([3], in: fixture)
      let record = try await fixture.ledger.recordPackage(
        path,
        members: members,
        orders: orders([.archive])
      )
      let id = try #require(record.created.first)
      #expect(try await fixture.handoff(id).localIdentifiers == [members[2]])
    }
  }

  @Test("a destination that has one of the assets gets the others, whichever place it has")
  func onlyMissing() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(2, to: [.archive])
      fixture.time.advance(.seconds(1))
      let members = try await members([1, 2, 3], in: fixture)
      let record = try await fixture.ledger.recordPackage(
        path,
        members: members,
        orders: orders([.archive, .social])
      )
      let handoffs = try await record.created.asyncMap { try await fixture.handoff($0) }
      #expect(handoffs.map(\.localIdentifiers) == [[members[0], members[2]], members])
      #expect(record.omitted.map(\.member) == [members[1]])
      #expect(record.omitted.map(\.destination) == [.archive])
      #expect(record.isNew)
      // It says the same when it is told again.
      let again = try await fixture.ledger.recordPackage(
        path,
        members: members,
        orders: orders([.archive, .social])
      )
      #expect(again.omitted == record.omitted)
      #expect(!again.isNew)
      // And the other way round: a later sighting of a member adds nothing.
      let seen = try await fixture.add(3, path: "/exports/single.mp4", to: [.archive, .social])
      #expect(seen.created.isEmpty)
    }
  }

  @Test("what was deleted is handed off by no package")
  func deleted() async throws {
    try await LedgerFixture.with { fixture in
      let gone = try await fixture.add(1).localIdentifier
      try await fixture.ledger.setStatus(.deleted, of: gone)
      let members = try await members([1, 2], in: fixture)
      let record = try await fixture.ledger.recordPackage(
        path,
        members: members,
        orders: orders([.archive])
      )
      let id = try #require(record.created.first)
      #expect(try await fixture.handoff(id).localIdentifiers == [members[1]])
    }
  }

  @Test("a package that no request can hold changes nothing, and says so")
  func tooLarge() async throws {
    try await LedgerFixture.with { fixture in
      let members = try await members(Array(1...400), in: fixture)
      let orders = orders([.archive])
      for _ in 0..<2 {
        await #expect {
          try await fixture.ledger.recordPackage(path, members: members, orders: orders)
        } throws: { error in
          guard case LedgerError.malformedOrder(.archive, let detail) = error else { return false }
          return detail.contains("more than 16384")
        }
      }
      #expect(try await fixture.ledger.handoffs().isEmpty)
      let part = try await fixture.ledger.recordPackage(
        path,
        members: Array(members.prefix(200)),
        orders: orders
      )
      #expect(part.created.count == 1)
    }
  }

  @Test("its sidecar is used up for an asset that the first handoff holds")
  func sidecar() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, to: [.archive])
      let members = try await members([1, 2], in: fixture)
      let sidecar = ConsumedSidecar(path: "/exports/job.handoff.toml", identity: identity(9))
      _ = try await fixture.ledger.recordPackage(
        path,
        members: members,
        orders: orders([.archive]),
        sidecar: sidecar
      )
      #expect(try await fixture.ledger.sidecarIsConsumed(sidecar.path, identity: identity(9)))
      #expect(try await fixture.ledger.lastConsumer(ofSidecar: sidecar.path) == members[1])
    }
  }

  @Test("when a folder last imported from a path is told, an import by hand does not count")
  func lastImport() async throws {
    try await LedgerFixture.with { fixture in
      try await fixture.add(1, path: "/exports/1.mp4", folder: "import")
      #expect(try await fixture.ledger.lastImport(from: "/exports/1.mp4") == nil)
      try await fixture.add(2, path: "/exports/2.mp4")
      #expect(try await fixture.ledger.lastImport(from: "/exports/2.mp4") == fixture.time.now)
    }
  }
}

extension Array where Element: Sendable {
  fileprivate nonisolated(nonsending) func asyncMap<Value>(
    _ transform: nonisolated(nonsending) (Element) async throws -> Value
  ) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
