import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Publishes one handoff: prepare, ready, publish, observe; each step is recorded before the next one is taken.
///
/// Nothing can be seen before `publishing` is recorded, so up to there every failure has effect `none`. From
/// there on ``Settlement`` decides what can be known.
struct Publication: Sendable {
  let handoff: ReceivedHandoff
  let context: ReceiveContext
  let platform: any Platform
  let settings: SocialSettings
  let desk: LimitsDesk

  /// How often something is published that certainly was not, before that is told as a failure.
  private static let rounds = 3

  func run() async throws -> Receipt {
    switch try PublicationStage(context.stage, at: settings.place) {
    case .publishing(let prepared, let since):
      let doubt = "an earlier process ended while it published"
      let settlement = try await remembered()
      return try await conclude(prepared, settlement.settle(prepared, since: since, doubt: doubt))
    case .pending(let prepared, let pending, let since):
      let settlement = try await remembered()
      return try await conclude(prepared, settlement.follow(prepared, pending, since: since))
    case .uploaded(let prepared):
      return try await publish(try await harmless("reading the request", draft), prepared)
    case .uploading(let kept):
      return try await begin(kept)
    case nil:
      return try await begin(nil)
    }
  }

  private func begin(_ kept: JSONValue?) async throws -> Receipt {
    let draft = try await harmless("reading the request") { () -> Draft in
      let draft = try await self.draft()
      try check(draft)
      return draft
    }
    let prepared = try await harmless("uploading") { () -> JSONValue in
      try await upload(draft, kept)
    }
    return try await publish(draft, prepared)
  }

  /// What was certainly not published is published now.
  private func conclude(_ prepared: JSONValue, _ receipt: Receipt?) async throws -> Receipt {
    if let receipt { return receipt }
    try await record(.uploaded(prepared))
    return try await publish(try await harmless("reading the request", draft), prepared)
  }

  private func publish(_ draft: Draft, _ uploaded: JSONValue) async throws -> Receipt {
    var prepared = uploaded
    for round in 0..<Self.rounds {
      if round > 0 { try await record(.uploaded(prepared)) }
      let (ready, post) = try await readyPost(draft, prepared)
      prepared = ready
      let since = SystemMoment.now()
      try await record(.publishing(ready, since: since))
      let settlement = settlement(post, mayRepeat: true)
      if let receipt = try await settlement.settle(ready, since: since, doubt: nil) {
        return receipt
      }
    }
    // It is never shown, and every try was lost all the same: too odd for certainty.
    throw ResultError(
      .network,
      "the service neither shows it nor says why it does not publish it",
      effect: .unknown,
      remedy: "Look at the account; then retry, or adopt what is there."
    )
  }

  /// Goes on after a crash, with the words as they are made again.
  ///
  /// Where they cannot be, because the asset is gone or the settings were changed, it is only looked for.
  private func remembered() async throws -> Settlement {
    do {
      let post = try await draft().post
      return settlement(try await settings.pace(context).timed(post, platform), mayRepeat: true)
    } catch is CancellationError {
      throw Settlement.cancelled
    } catch {
      await context.log(.warning, "\(handoff.id) is only looked for: \(error)")
      return settlement(.unwritten(handoff), mayRepeat: false)
    }
  }

  private func settlement(_ post: Post, mayRepeat: Bool) -> Settlement {
    Settlement(
      context: context,
      platform: platform,
      settings: settings,
      post: post,
      mayRepeat: mayRepeat
    )
  }
}
