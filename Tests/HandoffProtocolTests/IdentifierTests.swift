import HandoffProtocol
import Testing

@Suite("Identifiers and tokens")
struct IdentifierTests {
  @Test("a local identifier is a UUID of version 8 made from the digest's first 128 bits")
  func fromDigest() throws {
    let ones = try #require(ContentDigest([UInt8](repeating: 0xFF, count: 32)))
    #expect(LocalIdentifier(ones).text == "FFFFFFFF-FFFF-8FFF-BFFF-FFFFFFFFFFFF/L0/001")
    let zeros = try #require(ContentDigest([UInt8](repeating: 0, count: 32)))
    #expect(LocalIdentifier(zeros).text == "00000000-0000-8000-8000-000000000000/L0/001")
    // SHA-256 of no bytes at all (FIPS 180-4).
    let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    let empty = try #require(ContentDigest(hex: hex))
    #expect(LocalIdentifier(empty).text == "E3B0C442-98FC-8C14-9AFB-F4C8996FB924/L0/001")
    #expect(empty.hex == hex)
  }

  @Test("the text, or the UUID alone, is read in either case")
  func reading() {
    let uuid = "e3b0c442-98fc-8c14-9afb-f4c8996fb924"
    for text in [uuid, uuid.uppercased(), uuid + "/L0/001", uuid.uppercased() + "/l0/001"] {
      #expect(LocalIdentifier(text)?.text == uuid.uppercased() + "/L0/001")
      #expect(LocalIdentifier(text)?.uuid == uuid.uppercased())
    }
  }

  @Test(
    "anything else is no identifier",
    arguments: [
      "", "/L0/001", "e3b0c442-98fc-8c14-9afb-f4c8996fb92", "e3b0c44298fc8c149afbf4c8996fb924",
      "e3b0c442-98fc-8c14-9afb-f4c8996fb924/L0/002", "g3b0c442-98fc-8c14-9afb-f4c8996fb924",
      "e3b0c442-98fc-8c14-9afb-f4c8996fb924/L0/001/L0/001", "../../../../../../etc/passwd",
      "é3b0c44-98fc-8c14-9afb-f4c8996fb924", "e3b0c442-98fc-8c14-9afb-f4c8996fb924 ",
    ]
  )
  func noIdentifier(text: String) {
    #expect(LocalIdentifier(text) == nil)
  }

  @Test(
    "a digest is 32 bytes or 64 hexadecimal digits",
    arguments: ["", "00", String(repeating: "g", count: 64)]
  )
  func noDigest(text: String) {
    #expect(ContentDigest(hex: text) == nil)
    #expect(ContentDigest([UInt8](repeating: 0, count: 31)) == nil)
  }

  @Test("names of destinations and callbacks have their characters")
  func names() {
    for text in ["a", "archive", "editor-v1", "A_9", String(repeating: "x", count: 64)] {
      #expect(DestinationName(text)?.text == text)
      #expect(CallbackID(text)?.text == text)
    }
    for text in ["", "-a", "a b", "a/b", "..", "ü", "a\n", String(repeating: "x", count: 65)] {
      #expect(DestinationName(text) == nil)
      #expect(CallbackID(text) == nil)
    }
  }

  @Test("a state token shows itself nowhere")
  func redaction() throws {
    let token = try #require(StateToken("secret-value"))
    let request = HandoffRequest(localIdentifiers: [], state: token)
    let result = HandoffResult(state: token, outcome: .cancelled(nil))
    let holders: [Any] = [token, request, result, [token], ["key": token], Optional(token) as Any]
    for holder in holders {
      var dumped = ""
      dump(holder, to: &dumped)
      for text in ["\(holder)", String(describing: holder), String(reflecting: holder), dumped] {
        #expect(!text.contains("secret"), "\(type(of: holder))")
        #expect(text.contains("(state token)"))
      }
    }
    #expect(Mirror(reflecting: token).children.isEmpty)
  }

  @Test("a state token has the characters of base64url and the dot, and a length")
  func tokens() {
    #expect(StateToken("aZ09-_.")?.revealed == "aZ09-_.")
    #expect(StateToken(String(repeating: "a", count: 256)) != nil)
    for text in ["", "a b", "a+b", "a/b", "a=", "ü", "a\n", String(repeating: "a", count: 257)] {
      #expect(StateToken(text) == nil)
    }
  }

  @Test("tokens match only whole")
  func matching() throws {
    let token = try #require(StateToken("abc"))
    for (text, expected) in [("abc", true), ("abd", false), ("ab", false), ("abcd", false)] {
      #expect(token.matches(try #require(StateToken(text))) == expected)
    }
  }
}
