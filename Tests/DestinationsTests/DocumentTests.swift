import HandoffProtocol
import Testing

@testable import Destinations

@Suite("Documents of receivers")
struct DocumentTests {
  @Test("many open handoffs are asked about in messages that either side can read")
  func batches() throws {
    let handoffs = try (1...300).map { number in
      var request = try Surroundings.request("token-\(number)")
      request.title = String(repeating: "t", count: 15_000)
      return SubmitParameters(handoffID: "h\(number)", request: request)
    }
    let batches = try ReconcileBatches.of(handoffs)
    #expect(batches.flatMap(\.self).map(\.handoffID) == handoffs.map(\.handoffID))
    for batch in batches {
      let message = try WireCoder.encode(ReconcileParameters(handoffs: batch))
      #expect(!batch.isEmpty && message.count < RPCMessage.maximumSize / 2)
      #expect(batch.count * HandoffResult.maximumSize < RPCMessage.maximumSize)
    }
    #expect(try ReconcileBatches.of([]).isEmpty)
  }

  @Test("tokens vanish from a result's texts, but not its own state")
  func redaction() throws {
    let other = "2." + String(repeating: "b", count: 43)
    let redaction = TokenRedaction()
    redaction.add(try #require(StateToken(other)))
    let own = "1." + String(repeating: "a", count: 43)
    let result = JSONValue.object([
      "state": .string(own),
      "output": .object([other: .array([.string("x\(own)y"), .integer(1)])]),
    ])
    let redacted = JSONValue.object([
      "state": .string(own),
      "output": .object(["(state token)": .array([.string("x(state token)y"), .integer(1)])]),
    ])
    #expect(redaction.redactedResult(result) == redacted)
    let knowledge = JSONValue.object(["handoff_id": .string("h1"), "result": result])
    let answer = JSONValue.object(["handoffs": .array([knowledge])])
    #expect(
      redaction.redactedReconciliation(answer)
        == .object([
          "handoffs": .array([.object(["handoff_id": .string("h1"), "result": redacted])])
        ])
    )
  }
}
