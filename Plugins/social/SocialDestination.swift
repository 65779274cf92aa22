import HandoffPluginKit
import HandoffProtocol
import Paths

/// Publishes each video as a status of a Mastodon account.
@main
struct SocialDestination: Destination {
  static let descriptor = DestinationDescriptor(
    name: "social",
    version: "1.0",
    constraints: constraints,
    concurrency: 2,
    settingsSchema: schema
  )

  private static var schema: JSONValue {
    let text = JSONValue.object(["type": .string("string")])
    let seconds = JSONValue.object(["type": .string("number"), "minimum": .integer(0)])
    return .object([
      "type": .string("object"),
      "properties": .object([
        "server": text, "token_env": text, "token_file": text, "visibility": text,
        "language": text, "poll_interval_s": seconds, "poll_limit_s": seconds,
      ]),
      "required": .array([.string("server")]),
    ])
  }

  private static var constraints: Constraints {
    var constraints = Constraints()
    // One video fills a status.
    constraints.maxCount = 1
    return constraints
  }

  private let settings: SocialSettings
  private let context: DestinationContext

  init(settings: SocialSettings, context: DestinationContext) throws {
    self.settings = settings
    self.context = context
    try settings.check()
    // Missing credentials are told at once, not with the first video.
    _ = try settings.token(context)
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    let client = MastodonClient(
      server: settings.server,
      // Read anew each time: it may have been replaced.
      token: try settings.token(self.context)
    )
    let publication = Publication(
      handoff: handoff,
      context: context,
      client: client,
      settings: settings
    )
    return try await publication.run()
  }

  /// ``Publication`` goes on from the recorded step, and never posts a second status.
  func resume(_ handoff: ReceivedHandoff, context: ReceiveContext) -> Resumption {
    .redo
  }
}
