import HandoffProtocol
import Testing

@Suite("Handoff result")
struct HandoffResultTests {
  private func decode(_ text: String) throws -> HandoffResult {
    try WireCoder.decode(
      HandoffResult.self,
      from: Array(text.utf8),
      limit: HandoffResult.maximumSize
    )
  }

  private func result(_ members: String) -> String {
    "{\"protocol_version\":3,\"state\":\"\(GoldenV3.token)\"\(members)}"
  }

  @Test("a success carries its output, and is written the same")
  func success() throws {
    let result = try decode(GoldenV3.success)
    let url = JSONValue.string("https://social.example/@a/17")
    #expect(result.outcome == .success(output: ["id": .string("17"), "url": url]))
    #expect(result.state.revealed == GoldenV3.token)
    #expect(String(decoding: try WireCoder.encode(result), as: UTF8.self) == GoldenV3.success)
  }

  @Test("a cancelled one needs no error")
  func cancelled() throws {
    let result = try decode(GoldenV3.cancelled)
    #expect(result.outcome == .cancelled(nil))
    #expect(String(decoding: try WireCoder.encode(result), as: UTF8.self) == GoldenV3.cancelled)
  }

  @Test("a failure carries everything about its error, and is written the same")
  func failure() throws {
    let result = try decode(GoldenV3.failure)
    let error = ResultError(
      .network,
      "The server is away.",
      effect: .none,
      retry: .later,
      retryAfter: 30,
      remedy: "Wait.",
      localIdentifier: LocalIdentifier(GoldenV3.identifier)
    )
    #expect(result.outcome == .failure(error))
    #expect(String(decoding: try WireCoder.encode(result), as: UTF8.self) == GoldenV3.failure)
  }

  @Test("an effect that is not told is unknown, and there is no retry")
  func smallestFailure() throws {
    let result = try decode(GoldenV3.smallestFailure)
    let error = ResultError(ErrorCode("something_new"), "", effect: .unknown)
    #expect(result.outcome == .failure(error))
    #expect(error.retry == .never)
  }

  @Test("unknown members are ignored")
  func unknownMembers() throws {
    #expect(throws: Never.self) { try decode(result(",\"result\":\"success\",\"extra\":[1]")) }
  }

  @Test(
    "what is missing or odd is malformed and never a success",
    arguments: [
      "", ",\"result\":\"ok\"", ",\"result\":\"Success\"", ",\"result\":null", ",\"result\":true",
      ",\"result\":\"failure\"", ",\"result\":\"failure\",\"error\":null",
      ",\"result\":\"failure\",\"error\":\"x\"", ",\"result\":\"failure\",\"error\":{}",
      ",\"result\":\"failure\",\"error\":{\"code\":\"\"}",
      ",\"result\":\"failure\",\"error\":{\"code\":\"no code\"}",
      ",\"result\":\"failure\",\"error\":{\"code\":\"x\",\"effect\":\"maybe\"}",
      ",\"result\":\"failure\",\"error\":{\"code\":\"x\",\"retry\":\"always\"}",
      ",\"result\":\"failure\",\"error\":{\"code\":\"x\",\"retry_after_s\":-1}",
      ",\"result\":\"failure\",\"error\":{\"code\":\"x\",\"retry_after_s\":1e300}",
      ",\"result\":\"failure\",\"error\":{\"code\":\"x\",\"retry_after_s\":1.5}",
      ",\"result\":\"success\",\"output\":[]", ",\"result\":\"success\",\"output\":\"x\"",
      ",\"result\":\"success\",\"error\":{\"code\":\"x\"}",
      ",\"result\":\"success\",\"result\":\"failure\"", ",\"result\":\"success\",\"state\":\"b\"",
    ]
  )
  func malformed(members: String) {
    #expect(code { try decode(result(members)) } == .malformedResult)
  }

  @Test("a version that no request has is malformed", arguments: [0, 4, -1])
  func version(version: Int) {
    let text = "{\"protocol_version\":\(version),\"state\":\"a\",\"result\":\"success\"}"
    #expect(code { try decode(text) } == .malformedResult)
  }
}
