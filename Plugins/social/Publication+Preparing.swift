import HTTPClient
import HandoffPluginKit
import HandoffProtocol
import Paths

/// The steps before anything can be seen.
extension Publication {
  /// What is published, before it is.
  struct Draft: Sendable {
    let asset: GrantedAsset
    let post: Post
    let limits: ServiceLimits
  }

  func record(_ stage: PublicationStage) async throws {
    try await harmless("recording the step “\(stage.name)”") { () -> Void in
      try await context.record(stage, at: settings.place)
    }
  }

  func readyPost(
    _ draft: Draft,
    _ prepared: JSONValue
  ) async throws -> (JSONValue, Post) {
    try await harmless("waiting for the upload") { () -> (JSONValue, Post) in
      let ready = try await ready(draft, prepared)
      return (ready, try await settings.pace(context).timed(draft.post, platform))
    }
  }

  func draft() async throws -> Draft {
    let asset = try await context.resolve(handoff.localIdentifiers[0])
    let limits = try await desk.limits(of: platform)
    if let trouble = limits.trouble {
      await context.log(.warning, "the limits of \(settings.server) are not known: \(trouble)")
    }
    let writer = try PostWriter(
      handoff,
      settings.words,
      type(of: platform),
      file: asset.path.stem.lossyText,
      limits: limits.further
    )
    for change in writer.changes { await context.log(.notice, "\(handoff.id): \(change)") }
    return Draft(asset: asset, post: writer.post, limits: limits)
  }

  func check(_ draft: Draft) throws(ResultError) {
    if let violation = draft.limits.violation(by: draft.asset.constrained) { throw violation }
    if let moment = draft.post.scheduledAt, moment <= context.receivedAt {
      throw PostWords.Wrong("scheduled_at", "was over when it was asked for").refusal
    }
  }

  func upload(_ draft: Draft, _ kept: JSONValue?) async throws -> JSONValue {
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
  func harmless<Value: Sendable>(
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
}
