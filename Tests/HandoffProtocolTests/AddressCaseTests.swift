import HandoffProtocol
import Testing

@Suite("Cases: addresses in messages")
struct AddressCaseTests {
  static let addresses = [
    "https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)",
    "file:///etc/passwd", "https://good.example@evil.example", "editor\r\nHost: evil", "editor ",
    "éditor", "-editor", "", String(repeating: "a", count: 65),
  ]

  @Test("Case 89: no address is a callback id or a destination", arguments: addresses)
  func names(address: String) throws {
    #expect(CallbackID(address) == nil)
    #expect(DestinationName(address) == nil)
    let text = try String(decoding: WireCoder.encode(address), as: UTF8.self)
    let request = """
      {"protocol_version":3,"media_type":"video","local_identifiers":\
      ["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],"state":"1.a","callback_id":\(text)}
      """
    #expect(throws: ProtocolError.self) {
      try WireCoder.decode(HandoffRequest.self, from: Array(request.utf8))
    }
  }

  @Test("Case 89: no document has a member for an address to answer to")
  func members() throws {
    let token = try #require(StateToken("1.a"))
    let identifier = try #require(
      LocalIdentifier("69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001")
    )
    let request = """
      {"protocol_version":3,"media_type":"video","local_identifiers":["\(identifier)"],\
      "state":"1.a","callback_url":"https://evil.example","return_url":"//evil.example"}
      """
    let decoded = try WireCoder.decode(HandoffRequest.self, from: Array(request.utf8))
    let plain = HandoffRequest(localIdentifiers: [identifier], state: token)
    #expect(try WireCoder.encode(decoded) == WireCoder.encode(plain))
  }

  @Test("Case 40: a token is the same in all of its characters or another", arguments: 1...46)
  func tokens(length: Int) throws {
    let text = String("7.Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-xyz0".prefix(length))
    let token = try #require(StateToken(text))
    let longer = try #require(StateToken(text + "A"))
    #expect(token.matches(token))
    #expect(!token.matches(longer) && !longer.matches(token))
  }

  @Test("a token where another member belongs is not repeated by the refusal")
  func refusals() {
    let token = "7.Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-Ab3_-xyz"
    let start = #"{"protocol_version":3,"state":"\#(token)","result":"#
    let documents = [
      start + #""\#(token)"}"#,
      start + #""failure","error":{"code":"auth","effect":"\#(token)"}}"#,
      start + #""success","output":{"\#(token)":1e999}}"#,
    ]
    for document in documents {
      do {
        _ = try WireCoder.decode(HandoffResult.self, from: Array(document.utf8))
        Issue.record("taken: \(document)")
      } catch {
        #expect(!"\(error)".contains("Ab3"), "\(error)")
      }
    }
  }
}
