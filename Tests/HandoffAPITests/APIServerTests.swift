import Glibc
import HTTPClient
import HandoffAPI
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing
import Webhooks

/// The API over loopback, with a broker behind it that answers as a test says.
@Suite("The HTTP API", .timeLimit(.minutes(1)))
struct APIServerTests {
  private static let secret = "a secret of at least 24 bytes"

  @Test(
    "answers only to its own names",
    arguments: [
      ("localhost:80", 404), ("LOCALHOST.", 404), ("127.0.0.1", 404), ("[::1]:7", 404),
      ("handoff.example.net:8443", 404), ("evil.example", 421), ("127.0.0.1.evil.example", 421),
      ("[::1", 421), ("::1", 421), ("", 421),
    ]
  )
  func hosts(host: String, status: Int) async throws {
    try await serving { ask in
      let reply = try await ask("GET", "/", [(name: "Host", value: host)], [])
      #expect(reply.status == status)
      #expect(reply.headers["content-type"] == "application/problem+json")
    }
  }

  @Test(
    "refuses other paths and methods",
    arguments: [
      ("GET", "/v3/results", 405), ("DELETE", "/v3/assets/x/data", 405), ("POST", "/v3", 404),
      ("GET", "/v3/assets/x", 404), ("GET", "/v3/assets/x/data", 401), ("POST", "/v3/results", 401),
      ("GET", "/v3//results", 404), ("POST", "/v3/results/", 404), ("GET", "/%zz", 404),
    ]
  )
  func paths(method: String, path: String, status: Int) async throws {
    try await serving { ask in
      let reply = try await ask(method, path, [], [])
      #expect(reply.status == status)
      let problem = try WireCoder.decode(JSONValue.self, from: reply.body)
      #expect(problem["status"] == .integer(Int64(status)))
      #expect(problem["code"]?.text != nil)
    }
  }

  @Test(
    "gives each refusal of a result its status and code",
    arguments: [
      (ErrorCode.alreadyConsumed, 409), (.unknownState, 404), (.wrongDestination, 403),
      (.expired, 410),
    ]
  )
  func refusedResults(code: ErrorCode, status: Int) async throws {
    let take: Take = { _, _ in throw ResultError(code, "no", effect: .none) }
    try await serving(takeResult: take) { ask in
      let reply = try await ask("POST", "/v3/results", try Self.signed(Self.result), Self.result)
      #expect(reply.status == status)
      #expect(try WireCoder.decode(JSONValue.self, from: reply.body)["code"]?.text == code.text)
    }
  }

  @Test("asks for a result again that could not be recorded")
  func ledgerTrouble() async throws {
    let taken = Mutex<[[DestinationName]]>([])
    let take: Take = { _, signers in
      let isFirst = taken.withLock { taken in
        taken.append(signers)
        return taken.count == 1
      }
      if isFirst { throw SystemError(ENOSPC, "write") }
    }
    try await serving(takeResult: take) { ask in
      let trouble = try await ask("POST", "/v3/results", try Self.signed(Self.result), Self.result)
      #expect(trouble.status == 503)
      #expect(trouble.headers["retry-after"] != nil)
      let again = try await ask("POST", "/v3/results", try Self.signed(Self.result), Self.result)
      #expect(again.status == 200)
    }
    #expect(taken.withLock { $0 } == [try Self.signers, try Self.signers])
  }

  @Test(
    "gives each refusal of an asset its status",
    arguments: [
      (ErrorCode.expired, 410), (.assetDeleted, 410), (.assetDamaged, 409), (.assetMissing, 404),
      (.accessLimited, 403), (.libraryUnavailable, 503), (.auth, 401),
    ]
  )
  func refusedAssets(code: ErrorCode, status: Int) async throws {
    let open: Open = { _, _ in throw ResultError(code, "no", effect: .none) }
    try await serving(openAsset: open) { ask in
      let headers = [(name: "Handoff-Grant", value: "h1.abc")]
      let reply = try await ask("GET", "/v3/assets/x/data", headers, [])
      #expect(reply.status == status)
      #expect(try WireCoder.decode(JSONValue.self, from: reply.body)["code"]?.text == code.text)
      #expect(!String(decoding: reply.body, as: UTF8.self).contains("h1.abc"))
    }
  }

  @Test("names the download as the export was named, whatever bytes that has")
  func downloadName() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("0123456789", to: "object")
    let name = BytePath(Array("a\"é\\\n".utf8) + [0xFF])
    let open: Open = { _, _ in
      ReadableAsset(
        file: try FileDescriptor.open(path, O_RDONLY),
        size: 10,
        digest: try #require(ContentDigest([UInt8](repeating: 7, count: 32))),
        name: name,
        contentType: "video/mp4"
      )
    }
    try await serving(openAsset: open) { ask in
      let headers = [(name: "Authorization", value: "Bearer h1.abc")]
      let reply = try await ask("GET", "/v3/assets/x/data", headers, [])
      #expect(reply.status == 200)
      #expect(reply.body == Array("0123456789".utf8))
      #expect(
        reply.headers["content-disposition"]
          == "attachment; filename=\"a______\"; filename*=UTF-8''a%22%C3%A9%5C%0A%FF"
      )
    }
  }

  // MARK: Serving

  private typealias Take = @Sendable (HandoffResult, [DestinationName]) async throws -> Void
  private typealias Open = @Sendable (Grant, String) async throws -> ReadableAsset
  private typealias Ask =
    @Sendable (String, String, [(name: String, value: String)], [UInt8]) async throws -> HTTPReply

  private func serving(
    takeResult: @escaping Take = { _, _ in },
    openAsset: @escaping Open = { _, _ in
      throw ResultError(.assetMissing, "there is none", effect: .none)
    },
    _ body: (Ask) async throws -> Void
  ) async throws {
    let server = APIServer(
      hosts: ["handoff.example.net"],
      surroundings: APISurroundings(
        secrets: try Self.secrets,
        takeResult: takeResult,
        openAsset: openAsset,
        now: { Self.moment }
      ),
      logger: .silent
    )
    let (listener, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
    let client = HTTPClient(agent: "test")
    let serving = Task { try await server.serve(listener) }
    defer { serving.cancel() }
    try await body { method, path, headers, bytes in
      try await client.exchange(
        HTTPRequest(
          method,
          "http://127.0.0.1:\(port)\(path)",
          headers: headers,
          body: bytes.isEmpty ? .none : .bytes(bytes, contentType: "application/json")
        )
      )
    }
    serving.cancel()
    try await serving.value
  }

  /// Two destinations with one secret, and one with another.
  private static var secrets: [DestinationName: [WebhookSecret]] {
    get throws {
      let other = try #require(DestinationName("other"))
      let own = [try WebhookSecret(secret)]
      return [
        try signers[0]: own, try signers[1]: own,
        other: [try WebhookSecret("the secret of somebody else")],
      ]
    }
  }
  private static var signers: [DestinationName] {
    get throws { try ["hook", "twin"].map { try #require(DestinationName($0)) } }
  }
  private static let moment = Timestamp(milliseconds: 1_800_000_000_000)
  private static let result = Array(
    #"{"protocol_version":3,"state":"1.abc","result":"success"}"#.utf8
  )

  private static func signed(_ body: [UInt8]) throws -> [(name: String, value: String)] {
    try WebhookSigner([WebhookSecret(secret)]).headers(id: "m1", at: moment, body: body)
  }
}
