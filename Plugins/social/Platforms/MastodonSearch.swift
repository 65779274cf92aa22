import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Looks for an upload in what an account has published and scheduled.
struct MastodonSearch: Sendable {
  let client: MastodonClient
  let media: String

  /// Of 40 statuses with media each.
  private static let mostPages = 5
  /// How far the clocks of both sides may disagree.
  private static let slack = Duration.seconds(3600)

  /// Among the statuses, newest first.
  ///
  /// - Parameter since: the search is complete once it has come to older ones; nil for all pages.
  /// - Returns: `absent` only after a complete search.
  /// - Throws: where the server does not let it look.
  func statuses(since: Timestamp?) async throws -> Finding {
    let account = try await client.account()
    guard account.status == 200 else { throw MastodonRefusal.error(account, "looking for it") }
    guard let id = MastodonClient.id(account.json?["id"]) else {
      throw MastodonRefusal.noMastodon("the account has no id")
    }
    let oldest = since?.advanced(by: .zero - Self.slack)
    return try await search { olderThan in
      try await client.statuses(of: id, olderThan: olderThan)
    } matches: { status in
      guard let id = MastodonClient.id(status["id"]), shows(status) else { return nil }
      return .published(Self.receipt(status, id))
    } isLast: { status in
      guard let oldest, let created = status["created_at"]?.text else { return false }
      return Timestamp(rfc3339: created).map { $0 < oldest } ?? false
    }
  }

  /// Among those that are scheduled.
  func scheduled() async throws -> Finding {
    try await search { olderThan in
      try await client.scheduled(olderThan: olderThan)
    } matches: { status in
      guard let id = MastodonClient.id(status["id"]), shows(status) || shows(status["params"])
      else {
        return nil
      }
      return .pending(.object(["scheduled_id": .string(id), "media_id": .string(media)]))
    } isLast: { _ in
      false
    }
  }

  /// A status, as it is told to the sender.
  static func receipt(_ status: JSONValue, _ id: String) -> Receipt {
    var output: [String: JSONValue] = ["id": .string(id)]
    // Statuses that only their author sees may have none.
    if let url = status["url"]?.text ?? status["uri"]?.text { output["url"] = .string(url) }
    return Receipt(output)
  }

  private func search(
    _ page: (String?) async throws -> HTTPReply,
    matches: (JSONValue) -> Finding?,
    isLast: (JSONValue) -> Bool
  ) async throws -> Finding {
    var olderThan: String?
    for _ in 0..<Self.mostPages {
      let reply = try await page(olderThan)
      // A server that schedules nothing has no such list.
      if reply.status == 404 || reply.status == 501 { return .absent }
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
      attachments.contains(where: { $0["id"]?.text == media })
    {
      return true
    }
    guard case .array(let ids)? = status?["media_ids"] else { return false }
    return ids.contains { $0.text == media || $0.integer.map(String.init) == media }
  }
}
