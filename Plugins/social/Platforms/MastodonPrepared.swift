import HandoffProtocol

/// An upload, and whose it is: another account neither has it nor can tell what became of it.
struct MastodonPrepared: Hashable, Sendable {
  let media: String
  /// The account's id; nil in what 1.0 recorded.
  let account: String?
  /// The post that the server publishes by itself.
  var scheduled: String?

  init(media: String, account: String?) {
    self.media = media
    self.account = account
  }

  /// What was recorded; nil for anything else.
  init?(_ recorded: JSONValue) {
    guard let media = MastodonClient.id(recorded["media_id"]) else { return nil }
    self.media = media
    account = MastodonClient.id(recorded["account_id"])
    scheduled = MastodonClient.id(recorded["scheduled_id"])
  }

  var recorded: JSONValue {
    var members: [String: JSONValue] = ["media_id": .string(media)]
    members["account_id"] = account.map { .string($0) }
    members["scheduled_id"] = scheduled.map { .string($0) }
    return .object(members)
  }
}
