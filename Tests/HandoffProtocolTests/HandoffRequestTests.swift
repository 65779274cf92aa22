import HandoffProtocol
import Testing

@Suite("Handoff request")
struct HandoffRequestTests {
  private func decode(_ text: String) throws -> HandoffRequest {
    try WireCoder.decode(
      HandoffRequest.self,
      from: Array(text.utf8),
      limit: HandoffRequest.maximumSize
    )
  }

  /// The smallest request with a member more, or one in another form.
  private func request(_ members: String) -> String {
    "{\"protocol_version\":3,\"media_type\":\"video\","
      + "\"local_identifiers\":[\"\(GoldenV3.identifier)\"],\"state\":\"\(GoldenV3.token)\"\(members)}"
  }

  @Test("the golden document of version 3 is read as it was meant, and written the same")
  func golden() throws {
    let request = try decode(GoldenV3.requestWithEverything)
    #expect(request.protocolVersion == 3)
    #expect(request.mediaType == "video")
    #expect(request.localIdentifiers.count == 2)
    #expect(request.localIdentifiers[0].text == GoldenV3.identifier)
    #expect(request.state.revealed == GoldenV3.token)
    #expect(request.title == "A \"title\" / ü")
    #expect(request.syncPublish)
    #expect(request.callbackID?.text == "editor-v1")
    #expect(request.expiresAt?.rfc3339 == "2026-11-30T14:39:00.000Z")
    #expect(request.attempt == 2)
    #expect(request.metadata?["count"]?.integer == 3)
    #expect(request.metadata?["ratio"] == .number(1.5))
    #expect(request.mustUnderstand == ["title"])
    let written = String(decoding: try WireCoder.encode(request), as: UTF8.self)
    #expect(written == GoldenV3.requestWithEverything)
  }

  @Test("what may be missing has its default")
  func smallest() throws {
    let request = try decode(GoldenV3.smallestRequest)
    #expect(request.title == nil)
    #expect(!request.syncPublish)
    #expect(request.callbackID == nil)
    #expect(request.expiresAt == nil)
    #expect(request.attempt == 1)
    #expect(request.metadata == nil)
    #expect(request.mustUnderstand.isEmpty)
  }

  @Test("unknown members are ignored")
  func unknownMembers() throws {
    #expect(throws: Never.self) { try decode(request(",\"colour\":{\"deep\":[null]}")) }
  }

  @Test("an unknown member that must be understood is refused")
  func mustUnderstand() {
    let text = request(",\"colour\":1,\"must_understand\":[\"title\",\"colour\"]")
    #expect(code { try decode(text) } == .versionIncompatible)
  }

  @Test(
    "what changes meaning or shape is refused",
    arguments: [
      (",\"attempt\":0", ErrorCode.malformedRequest),
      (",\"attempt\":\"1\"", .malformedRequest),
      (",\"sync_publish\":1", .malformedRequest),
      (",\"sync_publish\":\"true\"", .malformedRequest),
      (",\"title\":7", .malformedRequest),
      (",\"callback_id\":\"no such form\"", .malformedRequest),
      (",\"expires_at\":\"tomorrow\"", .malformedRequest),
      (",\"must_understand\":\"title\"", .malformedRequest),
      (",\"state\":\"another\"", .malformedRequest),
    ]
  )
  func refused(members: String, expected: ErrorCode) {
    #expect(code { try decode(request(members)) } == expected)
  }

  @Test(
    "a required member that is missing or odd is refused",
    arguments: [
      ("\"protocol_version\":3", "", ErrorCode.malformedRequest),
      ("\"protocol_version\":3", "\"protocol_version\":0,", .versionIncompatible),
      ("\"protocol_version\":3", "\"protocol_version\":4,", .versionIncompatible),
      ("\"protocol_version\":3", "\"protocol_version\":\"3\",", .malformedRequest),
      ("\"media_type\":\"video\"", "\"media_type\":\"image\",", .unsupportedMedia),
      ("\"media_type\":\"video\"", "", .malformedRequest),
      ("\"local_identifiers\":[\"ID\"]", "\"local_identifiers\":[],", .malformedRequest),
      (
        "\"local_identifiers\":[\"ID\"]", "\"local_identifiers\":[\"ID\",\"ID\"],",
        .malformedRequest
      ),
      ("\"local_identifiers\":[\"ID\"]", "\"local_identifiers\":\"ID\",", .malformedRequest),
      ("\"local_identifiers\":[\"ID\"]", "\"local_identifiers\":[\"x\"],", .malformedRequest),
      ("\"local_identifiers\":[\"ID\"]", "\"local_identifiers\":[\"id\"],", .malformedRequest),
      ("\"state\":\"TOKEN\"", "\"state\":\"\",", .malformedRequest),
      ("\"state\":\"TOKEN\"", "\"state\":\"a b\",", .malformedRequest),
      ("\"state\":\"TOKEN\"", "", .malformedRequest),
    ]
  )
  func odd(member: String, replacement: String, expected: ErrorCode) {
    let members = [
      "\"protocol_version\":3", "\"media_type\":\"video\"", "\"local_identifiers\":[\"ID\"]",
      "\"state\":\"TOKEN\"",
    ]
    let kept = members.filter { $0 != member }.joined(separator: ",")
    let text = "{\(replacement)\(kept)}"
      .split(separator: "ID", omittingEmptySubsequences: false).joined(
        separator: GoldenV3.identifier
      )
      .split(separator: "\"id\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\(GoldenV3.identifier.lowercased())\"")
      .split(separator: "TOKEN", omittingEmptySubsequences: false).joined(separator: GoldenV3.token)
    #expect(code { try decode(text) } == expected)
  }

  @Test("a document of more than 16 KiB is refused unread")
  func size() {
    let fits = request(",\"title\":\"\(String(repeating: "x", count: 10_000))\"")
    #expect(throws: Never.self) { try decode(fits) }
    let long = request(",\"title\":\"\(String(repeating: "x", count: 16_384))\"")
    #expect(code { try decode(long) } == .malformedRequest)
  }

  @Test("an error about a request does not repeat its token")
  func noToken() {
    let texts = [
      request(",\"attempt\":-1"), request(",\"state\":\"\(GoldenV3.token)\""),
      "{\"state\":\"\(GoldenV3.token) \"}", request(",\"title\":{}"),
    ]
    for text in texts {
      let error = #expect(throws: ProtocolError.self) { try decode(text) }
      #expect(error.map { "\($0)".contains(GoldenV3.token) } == false)
    }
  }
}

/// The code of the protocol error that a call throws; nil if it throws none.
func code(_ call: () throws -> some Any) -> ErrorCode? {
  do {
    _ = try call()
    return nil
  } catch {
    return (error as? ProtocolError)?.code
  }
}
