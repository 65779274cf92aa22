import HandoffCore
import HandoffProtocol
import Testing

@Suite("CircuitBreaker")
struct CircuitBreakerTests {
  private func id(_ row: Int64) -> Handoff.ID { Handoff.ID(row: row) }

  @Test("it opens after failures in a row of several handoffs, and rests longer each time")
  func opens() {
    var breaker = CircuitBreaker()
    for row in 1...4 {
      #expect(breaker.failed(id(Int64(row)), at: .zero) == nil)
      #expect(breaker.permit(at: .zero) == .any)
    }
    #expect(breaker.failed(id(5), at: .zero) == CircuitBreaker.firstRest)
    var now = Duration.zero
    var rest = CircuitBreaker.firstRest
    for _ in 0..<12 {
      #expect(breaker.permit(at: now) == .none(rest))
      // What was under way when it opened.
      #expect(breaker.failed(id(6), at: now + rest / 2) == nil)
      now += rest
      #expect(breaker.permit(at: now) == .one)
      rest = min(rest * 2, CircuitBreaker.longestRest)
      #expect(breaker.failed(id(7), at: now) == rest)
    }
    #expect(rest == CircuitBreaker.longestRest)
    breaker.reached()
    #expect(breaker.permit(at: now) == .any)
    #expect(!breaker.isOpen)
  }

  @Test("one handoff that fails again and again is no reason, and an answer begins anew")
  func staysClosed() {
    var breaker = CircuitBreaker()
    for _ in 0..<100 { #expect(breaker.failed(id(1), at: .zero) == nil) }
    breaker.reached()
    for round in 0..<20 {
      for row in 1...4 { #expect(breaker.failed(id(Int64(round * 4 + row)), at: .zero) == nil) }
      breaker.reached()
    }
    #expect(breaker.permit(at: .zero) == .any)
  }

  @Test(
    "only what found nobody and did nothing counts",
    arguments: [
      (ErrorCode.network, Effect.none, true), (.receiverCrashed, .none, true),
      (.destinationUnavailable, .none, true), (.network, .unknown, false),
      (.receiverFailed, .none, false), (.quota, .none, false), (.auth, .none, false),
    ]
  )
  func counts(code: ErrorCode, effect: Effect, isCounted: Bool) {
    #expect(ResultError(code, "x", effect: effect).foundNobody == isCounted)
  }
}
