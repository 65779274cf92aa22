import HandoffProtocol
import HandoffTestSupport
import Testing

@Suite("Result URL")
struct ResultURLTests {
  private func decode(_ url: String) throws -> HandoffResult {
    try HandoffURL.decodeResult(Array(url.utf8))
  }

  private func result(_ outcome: HandoffResult.Outcome) throws -> HandoffResult {
    HandoffResult(state: try #require(StateToken(GoldenV3.token)), outcome: outcome)
  }

  private static let start = "handoff://result?protocol_version=3&state=\(GoldenV3.token)"

  @Test("can be built by hand")
  func byHand() throws {
    let success = try decode(Self.start + "&result=success&output.url=https://a.example/%40x/1")
    #expect(success.outcome == .success(output: ["url": .string("https://a.example/@x/1")]))
    #expect(success.state.revealed == GoldenV3.token)
    #expect(try decode(Self.start + "&result=success").outcome == .success(output: [:]))
    #expect(try decode(Self.start + "&result=cancelled").outcome == .cancelled(nil))
    let failure = try decode(
      Self.start.replacing("handoff:", with: "editor:")
        + "&result=failure&error.code=quota&error.message=Full%20today.&error.effect=none"
        + "&error.retry=later&error.retry_after_s=30&error.remedy=Wait.&error.colour=red"
    )
    let expected = ResultError(
      .quota,
      "Full today.",
      effect: .none,
      retry: .later,
      retryAfter: 30,
      remedy: "Wait."
    )
    #expect(failure.outcome == .failure(expected))
  }

  @Test("the golden results are read the same after the round trip")
  func golden() throws {
    for text in [
      GoldenV3.success, GoldenV3.cancelled, GoldenV3.failure,
    ] {
      let result = try WireCoder.decode(HandoffResult.self, from: Array(text.utf8))
      let again = try decode(try HandoffURL.encode(result))
      #expect(String(decoding: try WireCoder.encode(again), as: UTF8.self) == text)
    }
  }

  @Test("an output of any shape survives the round trip", arguments: [UInt64(17), 23])
  func outputs(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let values: [JSONValue] = [
      .string("a+b &=%"), .integer(-7), .bool(true), .array([.string("ü"), .null]),
      .object(["a.b": .number(1.5)]), .string(""),
    ]
    let names = ["url", "id", "a.b", "ü +", "", "output", "#"]
    for _ in 0..<300 {
      var output: [String: JSONValue] = [:]
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let name = names[Int.random(in: names.indices, using: &random)]
        output[name] = values[Int.random(in: values.indices, using: &random)]
      }
      let url = try HandoffURL.encode(result(.success(output: output)), scheme: "x")
      #expect(try decode(url).outcome == .success(output: output), "seed \(seed): \(url)")
    }
  }

  @Test(
    "what is odd is malformed, never a success, and is not quoted",
    arguments: [
      start, start + "&result=fine", start + "&result=failure",
      start + "&result=success&error.code=quota", start + "&result=success&result=success",
      start + "&result=success&output.a=1&output.a=2",
      start + "&result=success&output.a=1&output=%7B%22a%22%3A1%7D",
      start + "&result=success&output.a=1&output=1", start + "&result=success&output=%7B",
      start + "&result=failure&error.code=QUOTA", start + "&result=failure&error.message=a",
      start + "&result=failure&error.code=quota&error.retry_after_s=-1",
      start + "&result=failure&error.code=quota&error.retry_after_s=soon",
      start + "&result=failure&error.code=quota&error.effect=maybe",
      start.replacing("//result?", with: "//handoff?") + "&result=success",
      start.replacing("//result?", with: "//u@result?") + "&result=success",
      start + "&result=success#", start + "&result=success&output.a=%00",
      start + "&result=success&output.a=%C3%28", start + "&result=success&output.a=%4",
      "handoff://result?protocol_version=3&result=success", "handoff://result?result=success",
      "handoff://result?protocol_version=3&state=&result=success",
      "handoff://result?state=\(GoldenV3.token)&result=success",
    ]
  )
  func odd(url: String) {
    do {
      _ = try decode(url)
      Issue.record("read: \(url)")
    } catch let error as ProtocolError {
      #expect(error.code == .malformedResult)
      #expect(!error.message.contains(GoldenV3.token))
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("a result that does not fit is refused, never cut")
  func size() throws {
    let long = try result(.success(output: ["a": .string(String(repeating: "a", count: 8000))]))
    #expect(code { try HandoffURL.encode(long) } == .malformedResult)
    let odd = try result(.success(output: ["a": .string("\0")]))
    #expect(code { try HandoffURL.encode(odd) } == .malformedResult)
  }
}
