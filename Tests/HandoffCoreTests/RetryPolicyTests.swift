import HandoffCore
import Testing

@Suite("RetryPolicy")
struct RetryPolicyTests {
  private let policy = RetryPolicy(limit: .seconds(3600), first: .seconds(2), maximum: .seconds(60))

  @Test("the receiver's own wait is kept to, but never longer than the time for all attempts")
  func boundsFloor() {
    func wait(_ seconds: Int) -> Duration? {
      policy.wait(failures: 1, elapsed: .zero, jitter: 1, floor: .seconds(seconds))
    }
    #expect(wait(90) == .seconds(90))
    #expect(wait(3601) == .seconds(3600))
    #expect(wait(.max) == .seconds(3600))
    #expect(wait(.min) == .seconds(2))
  }
}
