import HandoffProtocol
import HandoffTestSupport
import Testing

@Suite("Handoff URL")
struct HandoffURLTests {
  private static let identifiers = [
    GoldenV3.identifier, "00112233-4455-8677-8899-AABBCCDDEEFF/L0/001",
  ]

  private func request(_ change: (inout HandoffRequest) -> Void = { _ in }) throws -> HandoffRequest
  {
    var request = HandoffRequest(
      localIdentifiers: try Self.identifiers.map { try #require(LocalIdentifier($0)) },
      state: try #require(StateToken(GoldenV3.token))
    )
    change(&request)
    return request
  }

  private func decode(_ url: String) throws -> HandoffRequest {
    try HandoffURL.decodeRequest(Array(url.utf8))
  }

  private func document(_ request: HandoffRequest) throws -> String {
    String(decoding: try WireCoder.encode(request), as: UTF8.self)
  }

  @Test("a request is written member for member, and read the same")
  func golden() throws {
    let request = try WireCoder.decode(
      HandoffRequest.self,
      from: Array(GoldenV3.requestWithEverything.utf8)
    )
    let url = try HandoffURL.encode(request, scheme: "Editor")
    #expect(
      url == "editor://handoff?protocol_version=3&media_type=video"
        + "&local_identifiers=69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F%2FL0%2F001"
        + "&local_identifiers=00112233-4455-8677-8899-AABBCCDDEEFF%2FL0%2F001"
        + "&state=t.Zm9vYmFy-_x&title=A%20%22title%22%20%2F%20%C3%BC&sync_publish=true"
        + "&callback_id=editor-v1&expires_at=2026-11-30T14%3A39%3A00.000Z&attempt=2"
        + "&metadata=%7B%22count%22%3A3%2C%22ratio%22%3A1.5%2C%22tags%22%3A%5B%22a%22%2C%22%C3%BC%22%5D"
        + "%2C%22yes%22%3Atrue%7D&must_understand=title"
    )
    #expect(try document(decode(url)) == GoldenV3.requestWithEverything)
  }

  @Test("random requests survive the round trip", arguments: [UInt64(23), 4, 2026])
  func roundTrips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alphabet = Array("aZ09 +%&=#?/:;@!$'()*,~\u{7F}\n\t\"\\<>[]{}|^`ü€😀\u{301}\u{202E}")
    for _ in 0..<300 {
      func text() -> String {
        String(
          (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in
            alphabet.randomElement(using: &random)
          }
        )
      }
      let request = try request { request in
        if Bool.random(using: &random) { request.localIdentifiers.removeLast() }
        if Bool.random(using: &random) { request.title = text() }
        request.syncPublish = Bool.random(using: &random)
        request.attempt = Int.random(in: 1...99, using: &random)
        if Bool.random(using: &random) {
          request.metadata = .object([text(): .string(text()), "n": .integer(7), "l": .array([])])
        }
        let moment = Int64.random(in: 0...4_000_000_000_000, using: &random)
        if Bool.random(using: &random) { request.expiresAt = Timestamp(milliseconds: moment) }
      }
      let url = try HandoffURL.encode(request, scheme: "x-a.b+c")
      #expect(url.utf8.allSatisfy { (0x21...0x7E).contains($0) })
      #expect(try document(decode(url)) == document(request), "seed \(seed): \(url)")
    }
  }

  @Test("a plus sign is a plus sign, written as %2B")
  func plus() throws {
    let url = try HandoffURL.encode(try request { $0.title = "1 + 1" }, scheme: "x")
    #expect(url.contains("title=1%20%2B%201"))
    #expect(try decode(url.replacing("%20%2B%20", with: "+")).title == "1+1")
  }

  @Test("what does not fit is refused, never cut")
  func size() throws {
    let rest = try HandoffURL.encode(try request { $0.title = "" }, scheme: "x").utf8.count
    let room = HandoffURL.maximumSize - rest
    let fits = String(repeating: "a", count: room)
    let url = try HandoffURL.encode(try request { $0.title = fits }, scheme: "x")
    #expect(url.utf8.count == HandoffURL.maximumSize)
    #expect(try decode(url).title == fits)
    let larger = try request { $0.title = fits + "a" }
    #expect(code { try HandoffURL.encode(larger, scheme: "x") } == .malformedRequest)
    #expect(code { try decode(url + "&a=b") } == .malformedRequest)
    let endless = [UInt8](repeating: UInt8(ascii: "a"), count: 10_000_000)
    #expect(code { try HandoffURL.decodeRequest(endless) } == .malformedRequest)
  }

  @Test("only a scheme is one, and a text with U+0000 is refused")
  func unwritable() throws {
    let request = try request()
    for scheme in ["", "1a", "a b", "a:", "ü", "-"] {
      #expect(code { try HandoffURL.encode(request, scheme: scheme) } == .malformedRequest)
    }
    let odd = try self.request { $0.title = "a\0b" }
    #expect(code { try HandoffURL.encode(odd, scheme: "x") } == .malformedRequest)
  }

  private static let good =
    "x://handoff?protocol_version=3&media_type=video&state=\(GoldenV3.token)"
    + "&local_identifiers=\(GoldenV3.identifier)"

  @Test("unknown members are ignored, and a host in capitals or with a slash is the same")
  func lenient() throws {
    #expect(try decode(Self.good + "&colour=1&colour=2&a.b=").title == nil)
    #expect(try decode(Self.good.replacing("x://handoff?", with: "X://HANDOFF/?")).attempt == 1)
  }

  @Test(
    "what is odd is refused without being quoted",
    arguments: [
      good + "#f", good.replacing("x://", with: "x://user@"),
      good.replacing("handoff?", with: "handoff:80?"), good.replacing("handoff?", with: "result?"),
      good.replacing("handoff?", with: "handoff/a?"), good.replacing("x://", with: "x:"),
      good.replacing("x://", with: "://"), good.replacing("x:", with: "1:"), "", "x://handoff",
      "x://handoff?", good + "&", good + "&title", good + "&=a", good + "&title=a&title=b",
      good + "&state=\(GoldenV3.token)", good + "&title=%", good + "&title=%2", good + "&title=%zz",
      good + "&title=%00", good + "&title=\0", good + "&title=%FF", good + "&title=%C3",
      good + "&title=ü", good + "&title=a b", good + "&title=[", good + "\n",
      good + "&sync_publish=yes", good + "&attempt=01", good + "&attempt=+1", good + "&attempt=0",
      good + "&attempt=99999999999999999999", good + "&metadata={", good + "&metadata=%7B",
      good + "&metadata=%22%5Cu0000%22", good + "&expires_at=soon",
      good + "&local_identifiers=\(GoldenV3.identifier)", good + "&protocol_version=3",
      good.replacing("state=", with: "estate="), good.replacing("state=t.", with: "state=%20"),
    ]
  )
  func odd(url: String) {
    do {
      _ = try decode(url)
      Issue.record("read: \(url)")
    } catch let error as ProtocolError {
      #expect(error.code == .malformedRequest)
      #expect(!error.message.contains(GoldenV3.token))
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("other versions and members that must be understood have their own code")
  func versions() {
    let later = Self.good.replacing("version=3", with: "version=4")
    #expect(code { try decode(later) } == .versionIncompatible)
    #expect(code { try decode(Self.good + "&must_understand=colour") } == .versionIncompatible)
  }

  @Test("random bytes and damaged URLs are refused or read, never worse", arguments: [UInt64(88)])
  func noise(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let good = Array(Self.good.utf8)
    for _ in 0..<3000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      do {
        let request = try HandoffURL.decodeRequest(bytes)
        #expect(request.protocolVersion == 3)
      } catch let error as ProtocolError {
        #expect(!error.message.isEmpty)
      }
    }
  }
}
