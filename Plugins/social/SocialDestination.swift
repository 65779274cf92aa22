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
    concurrency: 2
  )

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
