import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Mastodon, and servers that speak its API.
///
/// Every handoff is one status that shows one video.
struct MastodonPlatform: Platform {
  static let name = "mastodon"
  static let settingsProperties: [String: JSONValue] = [:]
  static let visibilities = ["public", "unlisted", "private", "direct"]
  /// The server refuses what is nearer.
  static let scheduleLead: Duration? = .seconds(5 * 60)
  /// For how long an upload that no status shows is certainly kept.
  private static let uploadLifetime = Duration.seconds(23 * 3600)

  let client: MastodonClient

  init(_ settings: PlatformSettings) {
    client = MastodonClient(server: settings.server, token: settings.token)
  }

  /// The server keeps a key for an hour; the clocks of both need not agree.
  var keyLifetime: Duration { .seconds(50 * 60) }

  /// GoToSocial and others know no key.
  var looksBeforeRepeating: Bool { true }

  func limits() async throws -> Constraints {
    try await instance().constraints
  }

  func furtherLimits() async throws -> FurtherLimits {
    try await instance().further
  }

  private func instance() async throws -> MastodonInstance {
    let reply = try await client.instance()
    guard reply.status == 200, let document = reply.json else {
      throw MastodonRefusal.error(reply, "asking for the limits")
    }
    return MastodonInstance(document)
  }

  func account() async throws -> String {
    let reply = try await client.account()
    guard reply.status == 200 else {
      throw MastodonRefusal.error(reply, "asking whose token it is")
    }
    guard let name = reply.json?["acct"]?.text ?? MastodonClient.id(reply.json?["id"]) else {
      throw MastodonRefusal.noMastodon("the account has no name")
    }
    let application = try await client.application()
    if application.status == 200, case .array(let list)? = application.json?["scopes"] {
      try MastodonScopes.check(Set(list.compactMap(\.text)))
    }
    return "@\(name)"
  }

  func prepare(_ upload: Upload) async throws -> JSONValue {
    let reply = try await client.upload(upload)
    guard reply.status == 200 || reply.status == 202 else {
      throw MastodonRefusal.error(reply, "uploading")
    }
    guard let media = MastodonClient.id(reply.json?["id"]) else {
      throw ResultError(.network, "uploading: no id in the answer", effect: .none, retry: .later)
    }
    return .object(["media_id": .string(media)])
  }

  func readiness(of prepared: JSONValue) async throws -> Readiness {
    guard let media = MastodonClient.id(prepared["media_id"]) else { return .lost }
    let reply = try await client.media(media)
    switch reply.status {
    case 200: return .ready
    case 206: return .working("the server works on the video", retryAfter: reply.wait)
    case 404: return .lost
    case 429: return .working("the server asks for patience", retryAfter: reply.wait)
    default: throw MastodonRefusal.error(reply, "waiting for the upload")
    }
  }

  func publish(_ post: Post, _ prepared: JSONValue) async throws -> PublishAnswer {
    guard let media = MastodonClient.id(prepared["media_id"]) else {
      return .refused(ResultError(.receiverFailed, "the upload has no id", effect: .none))
    }
    let reply = try await client.publish(Self.status(post, media), key: post.key)
    switch reply.status {
    case 200..<300: return answer(reply.json, media)
    // Gateways give up on a request that the server may still be working on.
    case 408, 500, 502..<600: return .unknown("HTTP \(reply.status)")
    default:
      // Used up means that a status shows it: perhaps the one that is asked for.
      if reply.saysUsedUp {
        return .unknown("the server says that the video is in a status already")
      }
      return .refused(MastodonRefusal.error(reply, "posting"))
    }
  }

  func observe(_ post: Post, _ pending: JSONValue) async throws -> PublishAnswer {
    guard let id = MastodonClient.id(pending["scheduled_id"]),
      let media = MastodonClient.id(pending["media_id"])
    else { return .unknown("the scheduled post has no id") }
    let reply = try await client.scheduled(id)
    switch reply.status {
    case 200: return .pending(pending, retryAfter: reply.wait)
    case 404: break
    default: throw MastodonRefusal.error(reply, "asking for the scheduled post")
    }
    if case .published(let receipt) = try await MastodonSearch(client: client, media: media)
      .statuses(since: nil)
    {
      return .published(receipt)
    }
    let isEarly = post.scheduledAt.map { SystemMoment.now() < $0 } ?? false
    guard isEarly else { return .unknown("the scheduled post is gone, and no status shows it yet") }
    return .refused(
      ResultError(
        .interrupted,
        "the scheduled post was deleted at the server before its time",
        effect: .none,
        retry: .afterFix
      )
    )
  }

  func find(_ post: Post, _ prepared: JSONValue, since: Timestamp) async throws -> Finding {
    guard let media = MastodonClient.id(prepared["media_id"]) else {
      return .unknown("the upload has no id")
    }
    let search = MastodonSearch(client: client, media: media)
    var finding = try await search.statuses(since: since)
    if case .absent = finding { finding = try await search.scheduled() }
    guard case .absent = finding else { return finding }
    let reply = try await client.media(media)
    switch reply.status {
    // It is there as one that no status has.
    case 200, 206, 422: return .absent
    // Mastodon shows no medium of a status by itself, and keeps one of none for a day.
    case 404 where SystemMoment.now().since(since) < Self.uploadLifetime:
      return .unknown("no status shows the upload, and the server has it no more")
    case 404: return .absent
    default: throw MastodonRefusal.error(reply, "looking for it")
    }
  }

  private static func status(_ post: Post, _ media: String) -> JSONValue {
    var members: [String: JSONValue] = [
      "status": .string(post.text), "media_ids": .array([.string(media)]),
    ]
    members["visibility"] = post.visibility.map { .string($0) }
    members["language"] = post.language.map { .string($0) }
    members["scheduled_at"] = post.scheduledAt.map { .string($0.rfc3339) }
    return .object(members)
  }

  /// A status, or one that is scheduled: that is not published before it is.
  private func answer(_ document: JSONValue?, _ media: String) -> PublishAnswer {
    guard let document, let id = MastodonClient.id(document["id"]) else {
      return .unknown("the answer has no id")
    }
    guard document["scheduled_at"]?.text != nil, document["content"] == nil else {
      return .published(MastodonSearch.receipt(document, id))
    }
    return .pending(
      .object(["scheduled_id": .string(id), "media_id": .string(media)]),
      retryAfter: nil
    )
  }
}
