import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import MastodonStandIn
import Paths
import Synchronization
import Testing

@Suite("social", .timeLimit(.minutes(5)))
struct SocialTests {
  private static let token = "not-a-real-token"

  private func social(
    _ scratch: Scratch,
    port: UInt16,
    token: String = token,
    extra: [String: JSONValue] = [:]
  ) -> PluginProcess {
    let members: [String: JSONValue] = [
      "server": .string("http://127.0.0.1:\(port)"), "token_env": .string("SOCIAL_TOKEN"),
      "visibility": .string("unlisted"), "language": .string("en"),
      "poll_interval_s": .number(0.01),
    ]
    return PluginProcess(
      name: "handoff-social",
      settings: .object(members.merging(extra) { $1 }),
      work: scratch.work,
      environment: ["SOCIAL_TOKEN=\(token)"]
    )
  }

  private func video(_ scratch: Scratch) throws -> Granted {
    let name = BytePath(Array("my \"clip\"".utf8) + [0xFF, 0x0A] + Array(".mp4".utf8))
    return try Granted(.pattern(9, count: 700_000), named: name, in: scratch)
  }

  @Test("a video is uploaded whole and published once, with title, visibility, language and key")
  func publishes() async throws {
    let scratch = try Scratch()
    let server = MastodonStandIn(token: Self.token)
    let file = try video(scratch)
    let outcome = try await social(scratch, port: server.start()).deliver(
      handoff("h", [file.identifier], title: "Ein Titel – ünïcödé"),
      file.grants
    )
    let status = try #require(server.statuses.first)
    #expect(outcome.output?["id"]?.text == status.id)
    #expect(outcome.output?["url"]?.text?.hasSuffix(status.id) == true)
    #expect(status.text == "Ein Titel – ünïcödé")
    #expect(status.visibility == "unlisted")
    #expect(status.language == "en")
    #expect(status.key?.count == 64)
    #expect(status.key?.contains("secret") == false)
    #expect(server.uploads.map(\.sha256) == [file.asset.sha256.hex])
    #expect(server.uploads.first?.fileName == "\(file.identifier.uuid).mp4")
    let log = try FileDescriptor.open(scratch.work.appending("log"), O_RDONLY)
    let text = String(decoding: try log.readAll(limit: 1 << 20), as: UTF8.self)
    #expect(!text.contains(Self.token))
    #expect(!text.contains("secret-of"))
  }

  @Test(
    "a refusal publishes nothing and says when another attempt makes sense",
    arguments: [
      (StandInStep.upload, StandInFault.refuse(401), ErrorCode.auth, RetryAdvice.afterFix),
      (.upload, .refuse(413), .sizeOutOfRange, .never),
      (.upload, .refuse(422), .unsupportedMedia, .never),
      (.upload, .refuse(429, retryAfter: 17), .quota, .later),
      (.upload, .refuse(503), .network, .later),
      (.upload, .refuse(404), .notConfigured, .afterFix),
      (.upload, .dropBefore, .network, .later),
      (.upload, .dropAfter, .network, .later),
      (.upload, .garble, .network, .later),
      (.media, .refuse(422), .unsupportedMedia, .never),
      (.media, .dropBefore, .network, .later),
      (.publish, .refuse(403), .auth, .afterFix),
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
    let scratch = try Scratch()
    let server = MastodonStandIn(token: Self.token)
    let plugin = social(scratch, port: try server.start())
    let file = try video(scratch)
    server.fail(step, fault)
    let outcome = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.failure?.code == code)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(outcome.failure?.retry == retry)
    if code == .quota { #expect([16, 17].contains(outcome.failure?.retryAfter)) }
    #expect(server.statuses.isEmpty)
    // The next attempt publishes, and what is uploaded already is not sent again.
    let again = try await plugin.deliver(handoff("h", [file.identifier], attempt: 2), file.grants)
    #expect(again.output != nil)
    #expect(server.statuses.count == 1)
    if step != .upload { #expect(server.uploads.count == 1) }
  }

  @Test(
    "an answer that is lost after publishing does not publish twice",
    arguments: [
      [StandInFault.dropAfter], [.dropBefore], [.refuse(500)], [.garble],
      [.dropAfter, .refuse(503), .dropAfter], [.dropAfter, .refuse(401)],
    ]
  )
  func lostAnswers(faults: [StandInFault]) async throws {
    for honoursKeys in [true, false] {
      let scratch = try Scratch()
      let server = MastodonStandIn(token: Self.token, honoursKeys: honoursKeys)
      let plugin = social(scratch, port: try server.start())
      let file = try video(scratch)
      for fault in faults { server.fail(.publish, fault) }
      let outcome = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
      let status = try #require(server.statuses.first)
      #expect(server.statuses.count == 1)
      #expect(outcome.output?["id"]?.text == status.id, "honours keys: \(honoursKeys)")
    }
  }

  @Test("what cannot be known is an unknown effect, and a person's retry finds it")
  func unknown() async throws {
    let scratch = try Scratch()
    let server = MastodonStandIn(token: Self.token)
    let plugin = social(scratch, port: try server.start())
    let file = try video(scratch)
    server.fail(.publish, .dropAfter, .refuse(401))
    server.fail(.account, .refuse(401), .refuse(401))
    let outcome = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.failure?.effect == .unknown)
    #expect(server.statuses.count == 1)
    let again = try await plugin.deliver(handoff("h", [file.identifier], attempt: 2), file.grants)
    #expect(again.output?["id"]?.text == server.statuses.first?.id)
    #expect(server.statuses.count == 1)
  }

  @Test(
    "too late for the key, it looks for the status instead of posting again",
    arguments: [StandInFault.dropAfter, .dropBefore]
  )
  func afterTheHour(fault: StandInFault) async throws {
    let scratch = try Scratch()
    let server = MastodonStandIn(token: Self.token)
    let plugin = social(scratch, port: try server.start())
    let file = try video(scratch)
    server.fail(.publish, fault, .refuse(401))
    server.fail(.account, .refuse(401), .refuse(401))
    let first = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
    #expect(first.failure?.effect == .unknown)
    try backdate(scratch.work.appending("handoffs/h.json"))
    let again = try await plugin.deliver(handoff("h", [file.identifier], attempt: 2), file.grants)
    // Where the account shows that it is not there, it is published now.
    #expect(server.statuses.count == 1)
    #expect(again.output?["id"]?.text == server.statuses.first?.id)
    #expect(server.count(.publish) == (fault == .dropAfter ? 2 : 3))
  }

  /// Moves the recorded step of a journal entry to long ago.
  private func backdate(_ entry: BytePath) throws {
    let bytes = try FileDescriptor.open(entry, O_RDONLY).readAll(limit: 1 << 20)
    guard case .object(var members) = try WireCoder.decode(JSONValue.self, from: bytes),
      case .object(var stage) = members["stage"], case .object(var data) = stage["data"]
    else { throw BrokerGaveUp() }
    #expect(stage["name"]?.text == "publishing")
    data["at"] = .string("2020-01-01T00:00:00.000Z")
    stage["data"] = .object(data)
    members["stage"] = .object(stage)
    try DurableFile.write(WireCoder.encode(JSONValue.object(members)), to: entry)
  }

  @Test("a server that is not there has no effect and is tried later")
  func unreachable() async throws {
    let scratch = try Scratch()
    let server = MastodonStandIn(token: Self.token)
    let port = try server.start()
    await server.stop()
    let file = try video(scratch)
    let outcome = try await social(scratch, port: port).deliver(
      handoff("h", [file.identifier]),
      file.grants
    )
    #expect(outcome.failure?.code == .network)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(outcome.failure?.retry == .later)
  }

  @Test("a wrong token is an auth failure before a byte of the video is kept")
  func wrongToken() async throws {
    let scratch = try Scratch()
    let server = MastodonStandIn(token: "another")
    let file = try video(scratch)
    let outcome = try await social(scratch, port: server.start()).deliver(
      handoff("h", [file.identifier]),
      file.grants
    )
    #expect(outcome.failure?.code == .auth)
    #expect(server.uploads.isEmpty)
  }

  @Test(
    "settings that cannot work are refused at once",
    arguments: [
      ["server": JSONValue.string("http://example.net")],
      ["server": .string("http://127.0.0.1.example.net")],
      ["visibility": .string("everybody")],
      ["language": .string("german")],
      ["text": .string("{tilte}")],
      ["platform": .string("friendster")],
      ["token_env": .string("NOT_THERE")],
      ["token_file": .string("/nowhere")],
    ]
  )
  func settings(extra: [String: JSONValue]) async throws {
    let scratch = try Scratch()
    let refusal = await #expect(throws: RPCMessage.Failure.self) {
      try await social(scratch, port: 1, extra: extra).run { _, _ in }
    }
    #expect(refusal?.data?.code == .notConfigured)
  }

  @Test(
    "killed at every step, it publishes exactly once, also when it is killed again and when answers are lost",
    arguments: ["http.send", "http.answer", "journal"],
    [1, 2]
  )
  func crashesHere(point: String, kills: Int) async throws {
    let steps = try await KillWalk(point: point, kills: kills).run { faults in
      let scratch = try Scratch()
      let server = MastodonStandIn(token: Self.token, processingPolls: 1, honoursKeys: kills == 1)
      if kills == 2 { server.fail(.publish, .dropAfter) }
      let file = try video(scratch)
      let ended = try await social(scratch, port: server.start()).deliverOverCrashes(
        handoff("h", [file.identifier]),
        file.grants,
        faults: faults
      )
      #expect(server.statuses.count == 1, "\(faults)")
      #expect(ended.outcome.output?["id"]?.text == server.statuses.first?.id, "\(faults)")
      return ended.processes
    }
    #expect(steps >= 4)
    print("social: \(kills) kills at \(point): \(steps) points")
  }

  @Test(
    "killed right after the server has acted and before it answers, it publishes exactly once",
    arguments: [StandInStep.upload, .media, .publish]
  )
  func crashesThere(step: StandInStep) async throws {
    let scratch = try Scratch()
    let server = MastodonStandIn(token: Self.token, processingPolls: 1)
    let file = try video(scratch)
    let victim = Victim()
    server.onDone { done in
      if done == step { victim.kill() }
    }
    let ended = try await social(scratch, port: server.start()).deliverOverCrashes(
      handoff("h", [file.identifier]),
      file.grants,
      faults: ["none:1:kill"],
      onStart: { victim.aim(at: $0) }
    )
    #expect(ended.processes == 2)
    #expect(server.statuses.count == 1)
    #expect(ended.outcome.output?["id"]?.text == server.statuses.first?.id)
  }
}

/// The first process that it is aimed at, killed at most once.
private final class Victim: Sendable {
  private enum State {
    case nobody
    case aimed(SpawnedProcess)
    case killed
  }

  private let state = Mutex(State.nobody)

  func aim(at process: SpawnedProcess) {
    state.withLock { state in
      if case .nobody = state { state = .aimed(process) }
    }
  }

  func kill() {
    state.withLock { state in
      guard case .aimed(let process) = state else { return }
      process.signalGroup(SIGKILL)
      state = .killed
    }
  }
}
