import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import MastodonStandIn
import Paths
import Testing

@Suite("social", .timeLimit(.minutes(2)))
struct SocialTests {
  @Test("a video is uploaded whole and published once, with title, visibility, language and key")
  func publishes() async throws {
    let name = BytePath(Array("my \"clip\"".utf8) + [0xFF, 0x0A] + Array(".mp4".utf8))
    let scene = try SocialScene(
      settings: ["visibility": .string("unlisted"), "language": .string("en")],
      fileName: name
    )
    let outcome = try await scene.deliver(title: "Ein Titel – ünïcödé")
    let status = try #require(scene.server.statuses.first)
    scene.expectOne(outcome)
    #expect(outcome.output?["url"]?.text?.hasSuffix(status.id) == true)
    #expect(status.text == "Ein Titel – ünïcödé")
    #expect(status.visibility == "unlisted")
    #expect(status.language == "en")
    #expect(status.key?.count == 64)
    #expect(status.key?.contains("secret") == false)
    #expect(scene.server.uploads.map(\.sha256) == [scene.file.asset.sha256.hex])
    #expect(scene.server.uploads.first?.fileName == "\(scene.file.identifier.uuid).mp4")
    let log = try FileDescriptor.open(scene.scratch.work.appending("log"), O_RDONLY)
    let text = String(decoding: try log.readAll(limit: 1 << 20), as: UTF8.self)
    #expect(!text.contains(SocialScene.token))
    #expect(!text.contains("secret-of"))
  }

  @Test(
    "a refusal publishes nothing and says when another attempt makes sense",
    arguments: [
      (StandInStep.account, StandInFault.refuse(401), ErrorCode.auth, RetryAdvice.afterFix),
      (.upload, .refuse(401), .auth, .afterFix),
      (.upload, .echo(401), .auth, .afterFix),
      (.upload, .refuse(413), .sizeOutOfRange, .never),
      (.upload, .refuse(422), .unsupportedMedia, .never),
      (.upload, .refuse(429, retryAfter: 17), .quota, .later),
      (.upload, .refuse(503), .network, .later),
      (.upload, .refuse(404), .notConfigured, .afterFix),
      (.upload, .refuse(301), .notConfigured, .afterFix),
      (.upload, .dropBefore, .network, .later),
      (.upload, .dropAfter, .network, .later),
      (.upload, .garble, .network, .later),
      (.media, .refuse(422), .unsupportedMedia, .never),
      (.media, .dropBefore, .network, .later),
      (.publish, .echo(403), .auth, .afterFix),
      (.publish, .refuse(422), .unsupportedMedia, .never),
      (.publish, .refuse(429, retryAfter: 17), .quota, .later),
      (.publish, .rateLimit(seconds: 16), .quota, .later),
      (.publish, .refuse(501), .unsupportedMedia, .never),
    ]
  )
  func refusals(
    step: StandInStep,
    fault: StandInFault,
    code: ErrorCode,
    retry: RetryAdvice
  ) async throws {
    let scene = try SocialScene()
    let server = scene.server
    server.fail(step, fault)
    let failure = try await scene.deliver().failure
    #expect(failure?.code == code)
    #expect(failure?.effect == Effect.none)
    #expect(failure?.retry == retry)
    // Some servers repeat what they were sent.
    #expect(failure?.message.contains(SocialScene.token) == false)
    if code == .quota { #expect([16, 17].contains(failure?.retryAfter)) }
    #expect(server.statuses.isEmpty)
    // The next attempt publishes, and what is uploaded already is not sent again.
    scene.expectOne(try await scene.deliver(attempt: 2))
    if step != .upload { #expect(server.uploads.count == 1) }
  }

  @Test("a server that is not there has no effect and is tried later")
  func unreachable() async throws {
    let scene = try SocialScene()
    await scene.server.stop()
    let failure = try await scene.deliver().failure
    #expect(failure?.code == .network)
    #expect(failure?.effect == Effect.none)
    #expect(failure?.retry == .later)
  }

  @Test("a wrong token is an auth failure before a byte of the video is sent")
  func wrongToken() async throws {
    let scene = try SocialScene(token: "another")
    #expect(try await scene.deliver().failure?.code == .auth)
    #expect(scene.server.uploads.isEmpty)
  }

  @Test(
    "settings that cannot work are refused at once",
    arguments: [
      ["server": JSONValue.string("http://example.net")],
      ["server": .string("http://127.0.0.1.example.net")],
      ["server": .string("http://localhost:80@example.net")],
      ["server": .string("https://me:password@example.net")],
      ["visibility": .string("everybody")],
      ["language": .string("german")],
      ["text": .string("{tilte}")],
      ["platform": .string("friendster")],
      ["token_env": .string("NOT_THERE")],
      ["token_file": .string("/nowhere")],
      ["poll_interval_s": .integer(0)],
      ["poll_limit_s": .number(1e300)],
      ["in_flight_s": .integer(-1)],
    ]
  )
  func settings(wrong: [String: JSONValue]) async throws {
    let scene = try SocialScene(settings: wrong)
    let refusal = await #expect(throws: RPCMessage.Failure.self) {
      try await scene.plugin.run { _, _ in }
    }
    #expect(refusal?.data?.code == .notConfigured)
    #expect(refusal?.data?.message.contains("password@") == false)
  }
}
