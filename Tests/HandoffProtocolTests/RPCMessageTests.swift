import HandoffProtocol
import Testing

@Suite("Messages")
struct RPCMessageTests {
  private func text(_ message: RPCMessage) throws -> String {
    String(decoding: try WireCoder.encode(message), as: UTF8.self)
  }

  private func decode(_ text: String) throws -> RPCMessage {
    try WireCoder.decode(RPCMessage.self, from: Array(text.utf8))
  }

  @Test("calls, answers and failures are JSON-RPC 2.0")
  func forms() throws {
    let call = RPCMessage.call(.number(7), "submit", .object(["a": .integer(1)]))
    #expect(
      try text(call) == #"{"id":7,"jsonrpc":"2.0","method":"submit","params":{"a":1}}"#
    )
    #expect(try text(.answer(.text("x"), .null)).hasPrefix(#"{"id":"x","jsonrpc":"2.0""#))
    #expect(
      try text(.failure(nil, .unsupported("future.thing")))
        == #"{"error":{"code":-32601,"message":"unsupported: future.thing"},"jsonrpc":"2.0"}"#
    )
  }

  @Test("an id comes back as it was sent", arguments: [#""7""#, "7", "-1", "9223372036854775807"])
  func identifiers(id: String) throws {
    let message = try decode("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"x\"}")
    let answer = RPCMessage.answer(try #require(message.id), .bool(true))
    #expect(try text(answer).contains("\"id\":\(id),"))
  }

  @Test("an id of another shape is refused", arguments: ["1.5", "[1]", "{}", "true"])
  func oddIdentifiers(id: String) {
    #expect(code { try decode("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"x\"}") } != nil)
  }

  @Test("documents travel as parameters and come out the same")
  func parameters() throws {
    let request = try WireCoder.decode(
      HandoffRequest.self,
      from: Array(GoldenV3.requestWithEverything.utf8)
    )
    let value = try WireCoder.value(SubmitParameters(handoffID: "h1", request: request))
    let again = try WireCoder.document(SubmitParameters.self, from: value)
    #expect(again.handoffID == "h1")
    let written = String(decoding: try WireCoder.encode(again.request), as: UTF8.self)
    #expect(written == GoldenV3.requestWithEverything)
  }

  @Test("missing parameters are malformed, not a crash")
  func noParameters() {
    #expect(code { try WireCoder.document(SubmitParameters.self, from: nil) } == .malformedRequest)
    #expect(code { try WireCoder.document(HandoffResult.self, from: .null) } == .malformedResult)
  }
}
