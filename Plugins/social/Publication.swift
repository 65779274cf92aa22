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

  /// What is published, before it is.
  private struct Draft: Sendable {
    let asset: GrantedAsset
    let post: Post
    let limits: ServiceLimits
  }

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

  // MARK: Steps before anything can be seen

  private func record(_ stage: PublicationStage) async throws {
    try await harmless("recording the step “\(stage.name)”") { () -> Void in
      try await context.record(stage, at: settings.place)
    }
  }

  private func readyPost(
    _ draft: Draft,
    _ prepared: JSONValue
  ) async throws -> (JSONValue, Post) {
    try await harmless("waiting for the upload") { () -> (JSONValue, Post) in
      let ready = try await ready(draft, prepared)
      return (ready, try await settings.pace(context).timed(draft.post, platform))
    }
  }

  private func draft() async throws -> Draft {
    let asset = try await context.resolve(handoff.localIdentifiers[0])
    let limits = try await desk.limits(of: platform)
    if let trouble = limits.trouble {
      await context.log(.warning, "the limits of \(settings.server) are not known: \(trouble)")
    }
    let writer = try PostWriter(
      handoff,
      settings.words,
      type(of: platform),
      file: asset.path.nameWithoutEnding,
      limits: limits.further
    )
    for change in writer.changes { await context.log(.notice, "\(handoff.id): \(change)") }
    return Draft(asset: asset, post: writer.post, limits: limits)
  }

  private func check(_ draft: Draft) throws(ResultError) {
    if let violation = draft.limits.violation(by: draft.asset.constrained) { throw violation }
    if let moment = draft.post.scheduledAt, moment <= context.receivedAt {
      throw PostWords.Wrong("scheduled_at", "was over when it was asked for").refusal
    }
  }

  private func upload(_ draft: Draft, _ kept: JSONValue?) async throws -> JSONValue {
    let context = context
    let place = settings.place
    await context.progress(0, "uploading")
    let upload = Upload(
      asset: draft.asset,
      post: draft.post,
      recorded: kept,
      keep: { try await context.record(.uploading(kept: $0), at: place) },
      progress: { await context.progress($0 * 0.8, "uploading") }
    )
    let prepared = try await platform.prepare(upload)
    try await context.record(.uploaded(prepared), at: place)
    return prepared
  }

  /// What can be published: this upload, or another where the service has lost it.
  private func ready(_ draft: Draft, _ uploaded: JSONValue) async throws -> JSONValue {
    if try await waitUntilReady(uploaded) { return uploaded }
    try check(draft)
    let again = try await upload(draft, nil)
    guard try await waitUntilReady(again) else {
      throw ResultError(.network, "the service loses the upload", effect: .none, retry: .later)
    }
    return again
  }

  /// False when the service does not know the upload.
  private func waitUntilReady(_ prepared: JSONValue) async throws -> Bool {
    let pace = settings.pace(context)
    let limit = ContinuousClock.now + .seconds(settings.pollLimit)
    while true {
      switch try await platform.readiness(of: prepared) {
      case .ready: return true
      case .lost: return false
      case .working(let doing, let retryAfter):
        guard ContinuousClock.now < limit else {
          throw ResultError(
            .destinationUnavailable,
            "the service still works on the upload: \(doing)",
            effect: .none,
            retry: .later
          )
        }
        let wait = max(settings.pollInterval, Double(retryAfter ?? 0))
        try await pace.rest(min(wait, settings.pollLimit), 0.8, doing)
      }
    }
  }

  /// A step before anything can be seen: whatever goes wrong, nothing is left behind.
  private func harmless<Value: Sendable>(
    _ doing: String,
    _ step: @Sendable () async throws -> Value
  ) async throws -> Value {
    do {
      return try await step()
    } catch var error as ResultError {
      error.effect = .none
      throw error
    } catch let failure as HTTPFailure {
      throw ResultError(.network, "\(doing): \(failure)", effect: .none, retry: .later)
    } catch is CancellationError {
      throw ResultError(.interrupted, "given up while \(doing)", effect: .none, retry: .later)
    } catch {
      throw ResultError(.receiverFailed, "\(doing): \(error)", effect: .none, retry: .later)
    }
  }

  // MARK: Steps after it may have been published

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
