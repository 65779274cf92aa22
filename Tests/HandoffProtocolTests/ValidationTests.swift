import HandoffProtocol
import Testing

@Suite("Request validation")
struct ValidationTests {
  private static let now = Timestamp(milliseconds: 1_000_000)

  private func identifier() throws -> LocalIdentifier {
    try #require(LocalIdentifier(GoldenV3.identifier))
  }

  private func request(expiresAt: Timestamp? = nil) throws -> HandoffRequest {
    HandoffRequest(
      localIdentifiers: [try identifier()],
      state: try #require(StateToken("t.1")),
      expiresAt: expiresAt
    )
  }

  @Test("a request is checked for its version, its expiry and its count")
  func ofRequests() throws {
    var constraints = Constraints()
    let validation = RequestValidation(constraints: constraints, versions: [1, 2])
    #expect(validation.violation(by: try request(), now: Self.now)?.code == .versionIncompatible)
    let open = RequestValidation(constraints: constraints)
    #expect(open.violation(by: try request(), now: Self.now) == nil)
    let late = try request(expiresAt: Self.now)
    #expect(open.violation(by: late, now: Self.now)?.code == .expired)
    constraints.maxCount = 0
    let none = RequestValidation(constraints: constraints)
    #expect(none.violation(by: try request(), now: Self.now)?.code == .countOutOfRange)
  }

  @Test(
    "each standing of an asset has its own code",
    arguments: [
      (AssetStanding.missing, ErrorCode.assetMissing), (.deleted, .assetDeleted),
      (.damaged, .assetDamaged), (.limited, .accessLimited), (.foreign, .accessLimited),
    ]
  )
  func standings(standing: AssetStanding, code: ErrorCode) throws {
    let refusal = standing.refusal(of: try identifier())
    #expect(refusal?.code == code && refusal?.effect == Effect.none)
    #expect(refusal?.localIdentifier == (try identifier()))
    #expect(AssetStanding.readable.refusal(of: try identifier()) == nil)
  }

  @Test("a sender's document is checked without the broker's configuration")
  func ofSenders() throws {
    let destination = try #require(DestinationName("social"))
    let good = SendRequest([try identifier()], to: destination)
    #expect(good.violation(now: Self.now) == nil)
    var none = good
    none.localIdentifiers = []
    var twice = good
    twice.localIdentifiers = [try identifier(), try identifier()]
    var emptyKey = good
    emptyKey.key = ""
    var longKey = good
    longKey.key = String(repeating: "k", count: SendRequest.maximumKey + 1)
    var both = good
    both.expiresAt = Self.now.advanced(by: .seconds(1))
    both.expiresInMilliseconds = 1000
    var never = good
    never.expiresInMilliseconds = 0
    var endless = good
    endless.expiresInMilliseconds = .max
    for document in [none, twice, emptyKey, longKey, both, never, endless] {
      #expect(document.violation(now: Self.now)?.code == .malformedRequest)
    }
    var late = good
    late.expiresAt = Self.now
    #expect(late.violation(now: Self.now)?.code == .expired)
  }

  @Test(
    "names that can be no configured names are unknown ones",
    arguments: [
      ("\"destination\":\"no such form\"", ErrorCode.destinationUnknown),
      ("\"destination\":\"a\",\"callback_id\":\"no such form\"", .callbackUnknown),
      ("\"destination\":\"a\",\"media_type\":\"image\"", .unsupportedMedia),
      ("\"destination\":7", .malformedRequest),
    ]
  )
  func names(members: String, expected: ErrorCode) {
    let text =
      "{\"protocol_version\":3,\"local_identifiers\":[\"\(GoldenV3.identifier)\"],"
      + "\(members)}"
    #expect(code { try WireCoder.decode(SendRequest.self, from: text.utf8) } == expected)
  }
}
