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
    let count = 20_000
    // Two ledgers under one clock that stands still, with the same content.
    let time = ManualTime()
    let first = try await codes(count, time)
    let second = try await codes(count, time)
    #expect(first.count == count && second.count == count)
    #expect(Set(first + second).count == 2 * count)
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    for code in first + second {
      #expect(code.utf8.count == 43)
      #expect(code.utf8.allSatisfy(alphabet.contains))
    }
    // Neighbours differ as much as any two: 1 in 64 characters is the same by chance.
    var same = 0
    for (one, next) in zip(first, first.dropFirst()) {
      same += zip(one.utf8, next.utf8).count { $0 == $1 }
    }
    let expected = Double(43 * (count - 1)) / 64
    #expect(abs(Double(same) - expected) < expected / 10, "\(same) of about \(expected)")
    // Each character is about as frequent at each place but the last, which has fewer bits.
    var frequency: [UInt8: Int] = [:]
    for code in first { for byte in code.utf8.prefix(42) { frequency[byte, default: 0] += 1 } }
    let mean = Double(42 * count) / 64
    #expect(frequency.count == 64)
    #expect(frequency.values.allSatisfy { abs(Double($0) - mean) < mean / 10 })
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
