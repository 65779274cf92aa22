import HandoffPluginKit
import HandoffProtocol
import Paths

/// Publishes each video with an account of a platform.
@main
struct SocialDestination: Destination {
  static let descriptor = DestinationDescriptor(
    name: "social",
    version: "1.1",
    constraints: constraints,
    // What a service has taken and publishes later waits here, and may not keep others from their turn.
    concurrency: 16,
    settingsSchema: Platforms.settingsSchema
  )

  private static var constraints: Constraints {
    var constraints = Constraints()
    // One video fills a post.
    constraints.maxCount = 1
    return constraints
  }

  private let settings: SocialSettings
  private let platform: any Platform
  private let desk = LimitsDesk()

  init(settings: JSONValue, context: DestinationContext) throws {
    self.settings = try SocialSettings(settings)
    platform = try self.settings.makePlatform(context)
  }

  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    let publication = Publication(
      handoff: handoff,
      context: context,
      platform: platform,
      settings: settings,
      desk: desk
    )
    return try await publication.run()
  }

  /// ``Publication`` goes on from the recorded step, and never publishes twice.
  func resume(_ handoff: ReceivedHandoff, context: ReceiveContext) -> Resumption {
    .redo
  }

  /// Says what would be cut, and refuses what the service would.
  func preflight(
    _ handoff: ReceivedHandoff,
    assets: [ConstrainedAsset]
  ) async throws -> [String] {
    let limits = try await desk.limits(of: platform)
    let writer = try PostWriter(
      handoff,
      settings.words,
      type(of: platform),
      file: nil,
      limits: limits.further
    )
    if let moment = writer.post.scheduledAt, moment <= SystemMoment.now() {
      throw PostWords.Wrong("scheduled_at", "is over").refusal
    }
    for asset in assets {
      if let violation = limits.violation(by: asset) { throw violation }
    }
    let trouble = limits.trouble.map {
      ["What \(settings.server) takes could not be asked: \($0)."]
    }
    return writer.changes + (trouble ?? [])
  }

  func checks() async -> [DestinationCheck] {
    await SocialChecks(platform: platform, settings: settings).run()
  }
}
