import Digests
import Testing

@Suite("Cases: comparing secrets")
struct ComparisonCaseTests {
  private static let secret: [UInt8] = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }

  @Test("Case 85: what differs in length or anywhere is different, and nothing fails")
  func verdicts() {
    let secret = Self.secret
    #expect(constantTimeEqual(secret, secret))
    #expect(constantTimeEqual([], []))
    for length in 0..<secret.count { #expect(!constantTimeEqual(secret, Array(secret[..<length]))) }
    for position in secret.indices {
      for bit in 0..<8 {
        var other = secret
        other[position] ^= 1 << bit
        #expect(!constantTimeEqual(secret, other))
      }
    }
  }

  @Test(
    "Case 85: where two secrets differ makes no difference in time",
    .timeLimit(.minutes(1))
  )
  func time() {
    var early = Self.secret
    early[0] ^= 1
    var late = Self.secret
    late[63] ^= 1
    // Another process may take the processor in any one measurement: three tries.
    let ratios = (0..<3).map { _ in Self.ratio(early, late) }
    #expect(ratios.contains { abs($0 - 1) < 0.1 }, "\(ratios)")
  }

  /// The median time with the one difference over that with the other, of 10⁵ calls each, by turns.
  private static func ratio(_ early: [UInt8], _ late: [UInt8]) -> Double {
    let clock = ContinuousClock()
    var times: [[Duration]] = [[], []]
    var equal = 0
    for _ in 0..<1000 {
      for (index, other) in [early, late].enumerated() {
        times[index].append(
          clock.measure {
            for _ in 0..<100 where constantTimeEqual(secret, other) { equal += 1 }
          }
        )
      }
    }
    #expect(equal == 0)
    let medians = times.map { $0.sorted()[$0.count / 2] / .nanoseconds(1) }
    return medians[0] / medians[1]
  }
}
