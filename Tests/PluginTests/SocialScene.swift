import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import MastodonStandIn
import Paths

/// The social plugin, a stand-in for its server, and a video.
struct SocialScene {
  static let token = "not-a-real-token"

  let scratch: Scratch
  let server: MastodonStandIn
  let plugin: PluginProcess
  var file: Granted

  init(
    rules: StandInRules = StandInRules(),
    settings: [String: JSONValue] = [:],
    token: String = token
  ) throws {
    scratch = try Scratch()
    server = MastodonStandIn(token: Self.token, rules: rules)
    let members: [String: JSONValue] = [
      "server": .string("http://127.0.0.1:\(try server.start())"),
      "token_env": .string("SOCIAL_TOKEN"), "poll_interval_s": .number(0.01),
    ]
    plugin = PluginProcess(
      name: "handoff-social",
      settings: .object(members.merging(settings) { $1 }),
      work: scratch.work,
      environment: ["SOCIAL_TOKEN=\(token)"]
    )
    file = try Granted(.pattern(9, count: 70_000), named: "clip_7.mp4", in: scratch)
  }

  func handoff(
    title: String? = "A title",
    metadata: [String: JSONValue] = [:],
    attempt: Int = 1
  ) -> SubmitParameters {
    submission(
      "h",
      [file.identifier],
      title: title,
      attempt: attempt,
      metadata: metadata.isEmpty ? nil : .object(metadata)
    )
  }

  func deliver(
    title: String? = "A title",
    metadata: [String: JSONValue] = [:],
    attempt: Int = 1
  ) async throws -> HandoffResult.Outcome {
    try await plugin.deliver(
      handoff(title: title, metadata: metadata, attempt: attempt),
      file.grants
    )
  }

  /// What `handoff send --dry-run` is told.
  func preflight(
    title: String? = "A title",
    metadata: [String: JSONValue] = [:]
  ) async throws -> PreflightAnswer {
    let asset = ConstrainedAsset(
      localIdentifier: file.identifier,
      size: file.asset.size,
      duration: file.asset.duration,
      container: file.asset.container,
      videoCodec: file.asset.videoCodec,
      width: file.asset.width,
      height: file.asset.height
    )
    let parameters = PreflightParameters(
      handoffID: "preflight",
      request: handoff(title: title, metadata: metadata).request,
      assets: [asset]
    )
    return try await plugin.run { broker, _ in try await broker.ask(.preflight, parameters) }
  }

  /// What `handoff doctor` is told, by name.
  func checks() async throws -> [String: DestinationCheck] {
    let answer: StatusAnswer = try await plugin.run { broker, _ in
      try await broker.ask(.status, StatusQuestion(checks: true))
    }
    return Dictionary((answer.checks ?? []).map { ($0.name, $0) }) { $1 }
  }
}
