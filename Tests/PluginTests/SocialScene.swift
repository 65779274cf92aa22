import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import MastodonStandIn
import Paths
import Testing

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
    token: String = token,
    fileName: BytePath = "clip_7.mp4"
  ) throws {
    scratch = try Scratch()
    server = MastodonStandIn(token: Self.token, rules: rules)
    let members: [String: JSONValue] = [
      "server": .string("http://127.0.0.1:\(try server.start())"),
      "token_env": .string("SOCIAL_TOKEN"), "poll_interval_s": .number(0.01),
      "in_flight_s": .number(0.05),
    ]
    plugin = PluginProcess(
      name: "handoff-social",
      settings: .object(members.merging(settings) { $1 }),
      work: scratch.work,
      environment: ["SOCIAL_TOKEN=\(token)"]
    )
    file = try Granted(.pattern(9, count: 70_000), named: fileName, in: scratch)
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

  /// Delivers with processes that are killed; one published status, and the outcome says so.
  ///
  /// - Returns: how many processes it took.
  func deliverOverCrashes(
    _ faults: [String],
    metadata: [String: JSONValue] = [:],
    onStart: @escaping @Sendable (SpawnedProcess) -> Void = { _ in }
  ) async throws -> Int {
    let ended = try await plugin.deliverOverCrashes(
      handoff(metadata: metadata),
      file.grants,
      faults: faults,
      onStart: onStart
    )
    expectOne(ended.outcome, "\(faults)")
    return ended.processes
  }

  /// One status is published, and the outcome says so.
  func expectOne(_ outcome: HandoffResult.Outcome, _ comment: Comment = "") {
    let statuses = server.statuses
    #expect(statuses.count == 1 && server.scheduled.isEmpty, comment)
    #expect(outcome.output?["id"]?.text == statuses.first?.id, "\(comment) \(outcome)")
  }

  /// Moves the recorded step of the handoff's journal to another moment.
  func date(_ moment: String) throws {
    let entry = scratch.work.appending("handoffs/h.json")
    let bytes = try FileDescriptor.open(entry, O_RDONLY).readAll(limit: 1 << 20)
    guard case .object(var members) = try WireCoder.decode(JSONValue.self, from: bytes),
      case .object(var stage) = members["stage"], case .object(var data) = stage["data"]
    else { throw BrokerGaveUp() }
    #expect(stage["name"]?.text == "publishing")
    data["at"] = .string(moment)
    stage["data"] = .object(data)
    members["stage"] = .object(stage)
    try DurableFile.write(WireCoder.encode(JSONValue.object(members)), to: entry)
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
