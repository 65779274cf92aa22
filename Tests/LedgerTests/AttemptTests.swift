import HandoffCore
import HandoffProtocol
import Ledger
import Testing

@Suite("Attempts and what comes of them", .timeLimit(.minutes(2)))
struct AttemptTests {
  @Test("A receiver that asks for an endless wait gets the longest that there is")
  func endlessWait() async throws {
    try await LedgerFixture.with { fixture in
      var later = ResultError.busy
      later.retryAfter = .max
      let first = try await fixture.submitted(1)
      guard case .retried(_, let at) = try await fixture.answer(first, .failure(later)) else {
        Issue.record("not retried")
        return
      }
      #expect(at == fixture.time.now.advanced(by: .seconds(3600)))
      let second = try await fixture.submitted(2)
      let endless = RetryPolicy(
        limit: .seconds(Int64.max),
        first: .seconds(2),
        maximum: .seconds(60)
      )
      let consumption = try await fixture.answer(second, .failure(later), retry: endless)
      guard case .retried(_, let at) = consumption else {
        Issue.record("\(consumption.name)")
        return
      }
      #expect(at == Timestamp(milliseconds: .max))
    }
  }
}
