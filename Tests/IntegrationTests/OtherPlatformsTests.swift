import Glibc
import HTTPClient
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing
import Webhooks

/// The programs of the page "Other platforms", against stand-ins on this machine.
@Suite("The documentation's programs for other platforms", .timeLimit(.minutes(3)))
struct OtherPlatformsTests {
  private static let secret = "a secret that both sides have"
  private static let python: BytePath = "/usr/bin/python3"

  private static func program(_ number: Int, in folder: BytePath) throws -> BytePath {
    let blocks = try DocumentedReceivers.blocks("python", of: "OtherPlatforms")
    return try DocumentedReceivers.write(try #require(blocks.dropFirst(number).first), in: folder)
  }

  /// Runs the YouTube script once, as the broker does.
  private func upload(_ tube: TubeStandIn, _ folder: BytePath) async throws -> JSONValue {
    let request = HandoffRequest(
      localIdentifiers: [],
      state: known(StateToken("secret-state")),
      title: "Ein Titel",
      metadata: .object(["description": .string("Worte"), "visibility": .string("unlisted")])
    )
    let video = folder.appending("clip.mp4")
    try DurableFile.write(TubeStandIn.video, to: video)
    let input = folder.appending("request")
    try DurableFile.write(WireCoder.encode(request), to: input)
    let output = folder.appending("output")
    var command = ProcessCommand(
      Self.python,
      arguments: [try Self.program(0, in: folder)],
      environment: [
        "PATH=/usr/bin:/bin", BytePath(Array("HANDOFF_ASSET_1=".utf8) + video.bytes),
        BytePath(Array("HANDOFF_WORK=".utf8) + folder.bytes),
        BytePath("YOUTUBE_API=\(tube.server.url)"),
        BytePath("YOUTUBE_TOKENS=\(tube.server.url)/token"), "YOUTUBE_CLIENT_ID=id",
        "YOUTUBE_CLIENT_SECRET=secret", "YOUTUBE_REFRESH_TOKEN=refresh",
      ]
    )
    command.descriptors = [
      0: try FileDescriptor.open(input, O_RDONLY),
      1: try FileDescriptor.open(output, O_WRONLY | O_CREAT | O_TRUNC),
    ]
    let status = try await SpawnedProcess.spawn(command).exit()
    #expect(status == .exited(0))
    let text = try FileDescriptor.open(output, O_RDONLY).readAll(limit: 1 << 16)
    let last = try #require(text.split(separator: UInt8(ascii: "\n")).last)
    let result = try WireCoder.decode(JSONValue.self, from: Array(last))
    #expect(result["state"]?.text == "secret-state")
    return result
  }

  @Test("the YouTube script uploads once, also when the answer is lost and when it is run again")
  func youtube() async throws {
    for losesAnswer in [false, true] {
      let folder = try TemporaryFolder()
      let tube = try TubeStandIn(losesAnswer: losesAnswer)
      let result = try await upload(tube, folder.path)
      #expect(result["result"]?.text == "success")
      #expect(result["output"]?["url"]?.text == "https://youtu.be/video1")
      let again = try await upload(tube, folder.path)
      #expect(again["output"]?["id"]?.text == "video1")
      #expect(tube.count("POST") == 1)
      let words = try #require(tube.words)
      #expect(words["snippet"]?["title"]?.text == "Ein Titel")
      #expect(words["status"]?["privacyStatus"]?.text == "unlisted")
      tube.server.stop()
    }
  }

  @Test("a quota that is used up leaves nothing, and is tried later")
  func quota() async throws {
    let folder = try TemporaryFolder()
    let tube = try TubeStandIn(losesAnswer: false, hasQuota: false)
    let result = try await upload(tube, folder.path)
    #expect(result["error"]?["code"]?.text == "quota")
    #expect(result["error"]?["effect"]?.text == "none")
    tube.server.stop()
  }

  @Test("the bridge brings a request to the workflow once, and its answer back signed")
  func bridge() async throws {
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { request in
      let answer = #"{"id":"42","url":"https://example.net/42"}"#
      return .reply(200, body: Array((request.target == "/workflow" ? answer : "").utf8))
    }
    defer { server.stop() }
    let port = try Loopback.freePort()
    let command = ProcessCommand(
      Self.python,
      arguments: [try Self.program(1, in: folder.path)],
      environment: [
        "PATH=/usr/bin:/bin", BytePath("HANDOFF_SECRET=\(Self.secret)"), BytePath("PORT=\(port)"),
        BytePath("WORKFLOW=\(server.url)/workflow"),
        BytePath("HANDOFF_RESULTS=\(server.url)/v3/results"),
      ]
    )
    let bridge = try await SpawnedProcess.spawn(command)
    let isUp = try await poll { Loopback.accepts(port) ? true : nil }
    try #require(isUp == true)
    #expect(try await send(port, secret: "another secret of 24 bytes") == 401)
    for _ in 1...2 { #expect(try await send(port, secret: Self.secret) == 202) }
    let result = try await poll { server.requests.first { $0.target == "/v3/results" } }
    let body = try WireCoder.decode(JSONValue.self, from: try #require(result).body)
    #expect(body["state"]?.text == "secret-state")
    #expect(body["output"]?["id"]?.text == "42")
    let signed = try WebhookSigner([WebhookSecret(Self.secret)]).headers(
      id: "result-message",
      at: Timestamp(
        milliseconds: 1000 * known(result?.headers["webhook-timestamp"].flatMap { Int64($0) })
      ),
      body: try #require(result).body
    )
    #expect(result?.headers["webhook-signature"] == signed.last?.value)
    let asked = server.requests.filter { $0.target == "/workflow" }
    #expect(asked.count == 1)
    let words = try WireCoder.decode(JSONValue.self, from: try #require(asked.first).body)
    #expect(words["asset"]?.text?.hasPrefix("http://assets.example/") == true)
    #expect(words["grant"]?.text == "a-grant")
    #expect(words["state"] == nil)
    bridge.signalGroup(SIGKILL)
    _ = await bridge.exit()
  }

  private func send(_ port: UInt16, secret: String) async throws -> Int {
    let digest = known(ContentDigest(hex: String(repeating: "a", count: 64)))
    let request = HandoffRequest(
      localIdentifiers: [LocalIdentifier(digest)],
      state: known(StateToken("secret-state")),
      title: "T"
    )
    let body = try WireCoder.encode(request)
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let headers = try WebhookSigner([WebhookSecret(secret)]).headers(
      id: "message",
      at: Timestamp(milliseconds: Int64(time.tv_sec) * 1000),
      body: body
    )
    let more = [("Handoff-Assets", "http://assets.example"), ("Handoff-Grant", "a-grant")]
    let reply = try await HTTPClient(agent: "test").exchange(
      HTTPRequest(
        "POST",
        "http://127.0.0.1:\(port)/handoff",
        headers: headers + more.map { (name: $0.0, value: $0.1) },
        body: .bytes(body, contentType: "application/json")
      )
    )
    return reply.status
  }
}

/// Plays what the script needs of YouTube: tokens, and one resumable upload session.
private final class TubeStandIn: Sendable {
  static let video = [UInt8](repeating: 7, count: 50_000)

  private struct State {
    var isWhole = false
    var losesAnswer: Bool
    var words: JSONValue?
  }

  let server: LoopbackServer
  private let state: SharedState

  private final class SharedState: Sendable {
    let value: Mutex<State>
    init(_ state: State) { value = Mutex(state) }
  }

  init(losesAnswer: Bool, hasQuota: Bool = true) throws {
    let state = SharedState(State(losesAnswer: losesAnswer))
    self.state = state
    let video = #"{"id":"video1"}"#
    server = try LoopbackServer { request in
      if request.target == "/token" {
        return .reply(200, body: Array(#"{"access_token":"access"}"#.utf8))
      }
      if request.method == "POST" {
        guard hasQuota else { return .reply(403, body: Array("quotaExceeded".utf8)) }
        guard request.headers["authorization"] == "Bearer access" else { return .reply(401) }
        let words = try? WireCoder.decode(JSONValue.self, from: request.body)
        state.value.withLock { $0.words = words }
        let host = request.headers["host"] ?? ""
        return .reply(200, headers: [("Location", "http://\(host)/session?id=1")])
      }
      return state.value.withLock { state in
        if request.headers["content-range"]?.hasPrefix("bytes */") == true {
          return state.isWhole ? .reply(200, body: Array(video.utf8)) : .reply(308)
        }
        guard request.body == Self.video else { return .reply(400) }
        state.isWhole = true
        defer { state.losesAnswer = false }
        return state.losesAnswer ? .raw([]) : .reply(200, body: Array(video.utf8))
      }
    }
  }

  var words: JSONValue? { state.value.withLock { $0.words } }

  /// Upload sessions that were begun.
  func count(_ method: String) -> Int {
    server.requests.count { $0.method == method && $0.target != "/token" }
  }
}
