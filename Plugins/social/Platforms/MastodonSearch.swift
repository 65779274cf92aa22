import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Looks for an upload in what an account has published and scheduled.
struct MastodonSearch: Sendable {
  let client: MastodonClient
  let prepared: MastodonPrepared

  /// Of 40 statuses with media each.
  private static let mostPages = 5
  /// How far the clocks of both sides may disagree.
  private static let slack = Duration.seconds(3600)
  /// For how long an upload that no status shows is certainly kept.
  private static let uploadLifetime = Duration.seconds(23 * 3600)

  /// Whose token it is.
  static func account(_ client: MastodonClient, _ doing: String) async throws -> String {
    let reply = try await client.account()
    guard reply.status == 200 else { throw MastodonRefusal.error(reply, doing) }
    guard let id = MastodonClient.id(reply.json?["id"]) else {
      throw MastodonRefusal.noMastodon("\(doing): the account has no id")
    }
    return id
  }

  /// Looks everywhere.
  ///
  /// - Parameter since: when it may first have been published.
  /// - Returns: `absent` only where it is certain.
  /// - Throws: where the server does not let it look.
  func run(since: Timestamp) async throws -> Finding {
    let account = try await Self.account(client, "looking for it")
    let finding = try await statuses(of: prepared.account ?? account, since: since)
    guard case .absent = finding else { return finding }
    guard prepared.account == account else {
      return .unknown("the token is another account's now, or it was not recorded whose it was")
    }
    let later = try await scheduled()
    guard case .absent = later else { return later }
    return try await upload(since: since)
  }

  /// What the upload itself shows, which no status does.
  private func upload(since: Timestamp) async throws -> Finding {
    let reply = try await client.media(prepared.media)
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

  /// Among an account's statuses, newest first.
  ///
  /// - Parameters:
  ///   - id: the account's.
  ///   - since: the search is complete once it has come to older ones; nil for all pages.
  /// - Returns: `absent` only after a complete search.
  /// - Throws: where the server does not let it look.
  func statuses(of id: String, since: Timestamp?) async throws -> Finding {
    let oldest = since?.advanced(by: .zero - Self.slack)
    return try await search { olderThan in
      try await client.statuses(of: id, olderThan: olderThan)
    } matches: { status in
      guard let id = MastodonClient.id(status["id"]), shows(status) else { return nil }
      return .published(MastodonPlatform.receipt(status, id))
    } isLast: { status in
      guard let oldest, let created = status["created_at"]?.text else { return false }
      return Timestamp(rfc3339: created).map { $0 < oldest } ?? false
    }
  }

  /// Among those that are scheduled.
  private func scheduled() async throws -> Finding {
    try await search { olderThan in
      try await client.scheduled(olderThan: olderThan)
    } matches: { status in
      guard let id = MastodonClient.id(status["id"]), shows(status) || shows(status["params"])
      else {
        return nil
      }
      var pending = prepared
      pending.scheduled = id
      return .pending(pending.recorded)
    } isLast: { _ in
      false
    } isMissing: { status in
      // A server that schedules nothing has no such list.
      status == 404 || status == 501
    }
  }

  private func search(
    _ page: (String?) async throws -> HTTPReply,
    matches: (JSONValue) -> Finding?,
    isLast: (JSONValue) -> Bool,
    isMissing: (Int) -> Bool = { _ in false }
  ) async throws -> Finding {
    var olderThan: String?
    for _ in 0..<Self.mostPages {
      let reply = try await page(olderThan)
      if isMissing(reply.status) { return .absent }
      guard reply.status == 200 else { throw MastodonRefusal.error(reply, "looking for it") }
      guard case .array(let statuses)? = reply.json else {
        throw MastodonRefusal.noMastodon("a list of statuses is none")
      }
      if let found = statuses.lazy.compactMap(matches).first { return found }
      guard let last = statuses.last, !statuses.contains(where: isLast) else { return .absent }
      guard let id = MastodonClient.id(last["id"]), id != olderThan else {
        return .unknown("the list of statuses cannot be read to its end")
      }
      olderThan = id
    }
    return .unknown("it is not among the newest \(Self.mostPages * MastodonClient.page)")
  }

  /// A pinned status may be older than its place: that it shows the upload is all that counts.
  private func shows(_ status: JSONValue?) -> Bool {
    if case .array(let attachments)? = status?["media_attachments"],
      attachments.contains(where: { $0["id"]?.text == prepared.media })
    {
      return true
    }
    guard case .array(let ids)? = status?["media_ids"] else { return false }
    return ids.contains {
      $0.text == prepared.media || $0.integer.map(String.init) == prepared.media
    }
  }
}
