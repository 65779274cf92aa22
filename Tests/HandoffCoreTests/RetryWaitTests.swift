import HandoffCore
import Testing

@Suite("RetryPolicy: waits")
struct RetryWaitTests {
  private let policy = RetryPolicy(limit: .seconds(3600), first: .seconds(2), maximum: .seconds(60))

  /// A small generator with a seed, so that a failure can be seen again (SplitMix64).
  private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  @Test(
    "each wait lies in its window, and they are spread over all of it",
    arguments: [UInt64(1), 2, 3],
    [1, 2, 3, 5, 6, 40, Int.max]
  )
  func spread(seed: UInt64, failures: Int) throws {
    var generator = Seeded(state: seed)
    let window = min(2 << min(failures - 1, 20), 60)
    var parts = [Int](repeating: 0, count: 4)
    for _ in 0..<4_000 {
      let jitter = Double.random(in: 0...1, using: &generator)
      let wait = try #require(
        policy.wait(failures: failures, elapsed: .zero, jitter: jitter)
      )
      #expect(wait >= .seconds(window) / 4)
      #expect(wait <= .seconds(window))
      let share = wait / .seconds(window)
      parts[min(3, Int((share - 0.25) / 0.75 * 4))] += 1
    }
    // A thousand each; five standard deviations are 137.
    for part in parts { #expect((850...1150).contains(part), "\(parts)") }
  }

  @Test("the last attempt comes at the end of the time at the latest, and none after it")
  func ends() {
    for jitter in [0, 0.5, 1] {
      let wait = policy.wait(failures: 9, elapsed: .seconds(3595), jitter: jitter)
      #expect(wait.map { $0 <= .seconds(5) && $0 > .zero } == true)
    }
    #expect(policy.wait(failures: 9, elapsed: .seconds(3600), jitter: 1) == nil)
    // A receiver's own wait is kept to all the same.
    let asked = policy.wait(failures: 9, elapsed: .seconds(3595), jitter: 1, floor: .seconds(90))
    #expect(asked == .seconds(90))
  }
}
