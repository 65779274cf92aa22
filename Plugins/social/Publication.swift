import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Publishes one handoff, step by step; each step is recorded before the next one is taken.
///
/// Nothing is published before `posting` is recorded, so up to there every failure leaves nothing
/// behind. From there on ``Posting`` decides what can be known.
struct Publication: Sendable {
  let handoff: ReceivedHandoff
  let context: ReceiveContext
  let client: MastodonClient
  let settings: SocialSettings

  /// How long a server keeps an upload that no status shows; Mastodon removes it after a day.
  private static let uploadLifetime = Duration.seconds(12 * 3600)

  func run() async throws -> Receipt {
    switch SocialStage(context.stage) {
    case .posting(let media, let since):
      return try await post(media, since: since, mayBePublished: true)
    case .uploaded(let media, let at) where now.since(at) < Self.uploadLifetime:
      return try await publish(media)
    case .uploaded, nil:
      return try await publish(try await harmless("uploading") { try await upload() })
    }
  }

  private var now: Timestamp { SystemMoment.now() }

  private func publish(_ uploaded: String) async throws -> Receipt {
    let media = try await harmless("waiting for the upload") { try await ready(uploaded) }
    let since = now
    try await harmless("recording the step") {
      try await context.record(SocialStage.posting(media: media, since: since))
    }
    return try await post(media, since: since, mayBePublished: false)
  }

  /// An upload that a status can show: this one, or another where the server has lost it, for example
  /// because it was restored from a backup.
  private func ready(_ uploaded: String) async throws -> String {
    if try await waitUntilReady(uploaded) { return uploaded }
    let again = try await upload()
    guard try await waitUntilReady(again) else {
      throw ResultError(.network, "the server loses the upload", effect: .none, retry: .later)
    }
    return again
  }

  private func post(
    _ media: String,
    since: Timestamp,
    mayBePublished: Bool
  ) async throws -> Receipt {
    let posting = Posting(
      handoff: handoff,
      context: context,
      client: client,
      settings: settings,
      media: media,
      since: since
    )
    return try await posting.run(mayBePublished: mayBePublished)
  }

  private func upload() async throws -> String {
    let asset = try await context.resolve(handoff.localIdentifiers[0])
    let context = context
    await context.progress(0, "uploading")
    let reply = try await client.upload(asset) { await context.progress($0 * 0.8, "uploading") }
    guard reply.status == 200 || reply.status == 202 else {
      throw Refusal.error(reply, "uploading", now: now)
    }
    guard let media = MastodonClient.id(reply.json?["id"]) else {
      throw ResultError(.network, "uploading: no id in the answer", effect: .none, retry: .later)
    }
    try await context.record(SocialStage.uploaded(media: media, at: now))
    return media
  }

  /// False when the server does not know the upload.
  private func waitUntilReady(_ media: String) async throws -> Bool {
    let limit = ContinuousClock.now + .seconds(settings.pollLimit ?? 600)
    while true {
      let reply = try await client.media(media)
      switch reply.status {
      case 200: return true
      case 206: await context.progress(0.8, "the server works on the video")
      case 404: return false
      case 429 where ContinuousClock.now < limit: break
      default: throw Refusal.error(reply, "waiting for the upload", now: now)
      }
      guard ContinuousClock.now < limit else {
        throw ResultError(
          .destinationUnavailable,
          "the server still works on the upload",
          effect: .none,
          retry: .later
        )
      }
      let pause = Double(Refusal.wait(reply, now: now) ?? 0)
      try await Task.sleep(for: .seconds(max(pause, settings.pollInterval ?? 2)))
    }
  }

  /// A step before anything is published: whatever goes wrong, nothing is left behind.
  private func harmless<Value: Sendable>(
    _ doing: String,
    _ step: @Sendable () async throws -> Value
  ) async throws -> Value {
    do {
      return try await step()
    } catch let error as ResultError {
      throw error
    } catch let failure as HTTPFailure {
      throw Refusal.error(failure, doing)
    } catch is CancellationError {
      throw ResultError(.interrupted, "given up while \(doing)", effect: .none, retry: .later)
    } catch {
      throw ResultError(.receiverFailed, "\(doing): \(error)", effect: .none, retry: .later)
    }
  }
}
