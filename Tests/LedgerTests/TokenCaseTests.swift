import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import Testing

@Suite("Cases: how tokens are made and used", .timeLimit(.minutes(3)))
struct TokenCaseTests {
  @Test("Case 84: tokens are long, of URL characters, never repeat, and know nothing of the time")
  func unguessable() async throws {
    let count = 4_000
    // Two ledgers under one clock that stands still, with the same content.
    let time = ManualTime()
    let first = try await codes(count, time)
    let second = try await codes(count, time)
    #expect(first.count == count && second.count == count)
    #expect(Set(first + second).count == 2 * count)
    for code in first + second {
      // The characters of base64url and no dot: those that a token may have.
      #expect(code.utf8.count == 43 && StateToken(String(code)) != nil)
    }
    // Neighbours have no more in common than any two: 1 character in 64, by chance.
    let same = zip(first, first.dropFirst()).reduce(0) { count, pair in
      count + zip(pair.0.utf8, pair.1.utf8).count { $0 == $1 }
    }
    let expected = 43 * (count - 1) / 64
    #expect((expected * 3 / 4...expected * 5 / 4).contains(same), "\(same) of about \(expected)")
  }

  /// The code parts of so many tokens.
  private func codes(_ count: Int, _ time: ManualTime) async throws -> [Substring] {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory, time: time)
      let identifier = try await fixture.add(1).localIdentifier
      let order = HandoffOrder(
        destination: .archive,
        localIdentifiers: [identifier],
        isAutomatic: false
      )
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<64 {
          group.addTask {
            for _ in 0..<(count / 64 + 1) {
              _ = try await fixture.ledger.create(order, again: true)
            }
          }
        }
        try await group.waitForAll()
      }
      let claimed = try await fixture.claim(limit: count)
      try await fixture.ledger.close()
      return claimed.compactMap { $0.request.state.revealed.split(separator: ".").last }
    }
  }

  @Test("Case 41: of 50 results for one token at one instant one is applied, 100 times")
  func race() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...100 {
        let claimed = try await fixture.submitted(number)
        let verdicts = try await withThrowingTaskGroup(of: String.self) { group in
          for copy in 0..<50 {
            let outcome: HandoffResult.Outcome =
              copy.isMultiple(of: 2)
              ? .success(output: ["n": .integer(Int64(copy))])
              : .failure(ResultError(.auth, "no", effect: .none))
            group.addTask { try await fixture.answer(claimed, outcome).name }
          }
          return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(verdicts == ["applied": 1, "alreadyConsumed": 49])
      }
      guard case .intact = try await fixture.ledger.verifyChain() else {
        Issue.record("the chain is broken")
        return
      }
    }
  }

  @Test("Case 44: after a restart a token still counts, until the moment it always had")
  func restart() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let first = try await LedgerFixture.open(directory)
      let ceiling = first.time.now.advanced(by: .seconds(60))
      let claimed = try await first.submitted(1, ceiling: ceiling)
      let other = try await first.submitted(2, ceiling: ceiling)
      try await first.ledger.close()
      first.time.advance(.seconds(59))
      let second = try await LedgerFixture.open(directory, time: first.time)
      #expect(try await second.ledger.expireDue().isEmpty)
      #expect(try await second.answer(claimed, .success(output: [:])).name == "applied")
      second.time.advance(.seconds(1))
      #expect(try await second.ledger.expireDue().count == 1)
      #expect(try await second.answer(other, .success(output: [:])).name == "late")
      try await second.ledger.close()
    }
  }
}
