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
  /// How far the clocks of both sides may disagree, and a little for the server's own work.
  private static let slack = Duration.seconds(5 * 60)

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

  /// Whose token it is comes first: a token that may not tell that could not look for a status later.
  func prepare(_ upload: Upload) async throws -> JSONValue {
    let account = try await MastodonSearch.account(client, "asking whose token it is")
    let reply = try await client.upload(upload)
    guard reply.status == 200 || reply.status == 202 else {
      throw MastodonRefusal.error(reply, "uploading")
    }
    guard let media = MastodonClient.id(reply.json?["id"]) else {
      throw ResultError(.network, "uploading: no id in the answer", effect: .none, retry: .later)
    }
    return MastodonPrepared(media: media, account: account).recorded
  }

  func readiness(of prepared: JSONValue) async throws -> Readiness {
    guard let prepared = MastodonPrepared(prepared) else { return .lost }
    let reply = try await client.media(prepared.media)
    switch reply.status {
    case 200: return .ready
    case 206: return .working("the server works on the video", retryAfter: reply.wait)
    case 404: return .lost
    case 429: return .working("the server asks for patience", retryAfter: reply.wait)
    default: throw MastodonRefusal.error(reply, "waiting for the upload")
    }
  }

  func publish(_ post: Post, _ prepared: JSONValue) async throws -> PublishAnswer {
    guard let prepared = MastodonPrepared(prepared) else {
      return .refused(ResultError(.receiverFailed, "the upload has no id", effect: .none))
    }
    let reply = try await client.publish(Self.status(post, prepared.media), key: post.key)
    switch reply.status {
    case 200..<300: return Self.answer(reply.json, prepared)
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
    guard let prepared = MastodonPrepared(pending), let id = prepared.scheduled else {
      return .unknown("the scheduled post has no id")
    }
    let reply = try await client.scheduled(id)
    switch reply.status {
    case 200: return .pending(pending, retryAfter: reply.wait)
    case 404: break
    default: throw MastodonRefusal.error(reply, "asking for the scheduled post")
    }
    let search = MastodonSearch(client: client, prepared: prepared)
    let account = try await MastodonSearch.account(client, "looking for the scheduled post")
    let found = try await search.statuses(of: prepared.account ?? account, since: nil)
    if case .published(let receipt) = found { return .published(receipt) }
    guard prepared.account == account, try await wasDeleted(post, prepared, found) else {
      return .unknown("the scheduled post is gone, and no status shows it yet")
    }
    return .refused(
      ResultError(
        .interrupted,
        "the scheduled post was deleted at the server before its time",
        effect: .none,
        retry: .afterFix
      )
    )
  }

  /// Long before its time no status has the upload: not while the server makes the one of the other.
  private func wasDeleted(
    _ post: Post,
    _ prepared: MastodonPrepared,
    _ found: Finding
  ) async throws -> Bool {
    guard case .absent = found, let moment = post.scheduledAt,
      moment.since(SystemMoment.now()) > Self.slack
    else { return false }
    return try await client.media(prepared.media).status == 200
  }

  func find(_ post: Post, _ prepared: JSONValue, since: Timestamp) async throws -> Finding {
    guard let prepared = MastodonPrepared(prepared) else { return .unknown("the upload has no id") }
    return try await MastodonSearch(client: client, prepared: prepared).run(since: since)
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
  private static func answer(_ document: JSONValue?, _ prepared: MastodonPrepared) -> PublishAnswer
  {
    guard let document, let id = MastodonClient.id(document["id"]) else {
      return .unknown("the answer has no id")
    }
    guard document["scheduled_at"]?.text != nil, document["content"] == nil else {
      return .published(receipt(document, id))
    }
    var pending = prepared
    pending.scheduled = id
    return .pending(pending.recorded, retryAfter: nil)
  }

  /// A status, as it is told to the sender.
  static func receipt(_ status: JSONValue, _ id: String) -> Receipt {
    var output: [String: JSONValue] = ["id": .string(id)]
    // Statuses that only their author sees may have none.
    let url = Receipt.address(status["url"]) ?? Receipt.address(status["uri"])
    output["url"] = url.map { .string($0) }
    return Receipt(output)
  }
}
