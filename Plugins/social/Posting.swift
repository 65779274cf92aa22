import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Posts the status of one handoff, at most one for ever.
///
/// The server keeps an `Idempotency-Key` for an hour. Within 50 minutes of the first try the same post
/// is repeated; after that, and when a server does not know the key, the account's own statuses are
/// looked through for the upload. What is still not certain then is an unknown effect, never a success
/// and never another post.
struct Posting: Sendable {
  let handoff: ReceivedHandoff
  let context: ReceiveContext
  let client: MastodonClient
  let settings: SocialSettings
  let media: String
  let since: Timestamp

  private static let keyLifetime = Duration.seconds(50 * 60)
  private static let pauses: [Duration] = [1, 2, 4, 8, 15].map { .seconds($0) }
  private static let pagesOfStatuses = 5

  /// What one try has shown.
  private enum Try {
    case published(Receipt)
    /// Certainly not published by this try.
    case refused(ResultError)
    /// Perhaps it was.
    case lost(String)
  }

  /// Posts, unless an earlier process may have posted and it is too late to ask with the same key.
  func run(mayBePublished: Bool) async throws -> Receipt {
    var isUncertain = mayBePublished
    var reason = "an earlier process ended while it posted"
    var pauses = Self.pauses.makeIterator()
    while SystemMoment.now().since(since) < Self.keyLifetime {
      let wait: Duration?
      switch try await attempt(isUncertain) {
      case .published(let receipt): return receipt
      case .refused(let error):
        if !isUncertain { try await giveUp(error) }
        reason = error.message
        // Only what passes by itself is worth another try.
        wait = error.retry == .later ? pauses.next() : nil
      case .lost(let text):
        isUncertain = true
        reason = text
        wait = pauses.next()
      }
      guard let wait else { break }
      await context.progress(0.9, "trying again: \(reason)")
      try await pause(wait)
    }
    return try await lookUp(reason)
  }

  private func attempt(_ isUncertain: Bool) async throws -> Try {
    do {
      let reply = try await client.publish(status, key: handoff.idempotencyKey)
      switch reply.status {
      case 200..<300:
        guard let receipt = receipt(reply.json) else { return .lost("the answer has no id") }
        return .published(receipt)
      case 500...: return .lost("HTTP \(reply.status)")
      default:
        return .refused(Refusal.error(reply, "posting", now: SystemMoment.now()))
      }
    } catch let failure as HTTPFailure {
      guard failure.wasSent else { return .refused(Refusal.error(failure, "posting")) }
      return .lost(failure.reason)
    } catch is CancellationError {
      throw cancelled
    }
  }

  /// Nothing was published: the step is taken back, so that a later attempt starts its own hour.
  private func giveUp(_ error: ResultError) async throws {
    do {
      try await context.record(SocialStage.uploaded(media: media, at: since))
    } catch {
      // The recorded step says "perhaps": a later attempt is careful where it need not be.
      await context.log(.warning, "taking back the step of \(handoff.id): \(error)")
    }
    throw error
  }

  /// Looks for the upload in what the account has published.
  private func lookUp(_ reason: String) async throws -> Receipt {
    await context.progress(0.95, "looking whether it was published")
    do {
      if let found = try await publishedStatus() { return found }
    } catch let failure as HTTPFailure {
      throw unknown("\(reason); looking for it: \(failure)")
    } catch is CancellationError {
      throw cancelled
    }
    throw unknown(reason)
  }

  private func publishedStatus() async throws -> Receipt? {
    let account = try await client.account()
    guard account.status == 200, let id = MastodonClient.id(account.json?["id"]) else { return nil }
    var oldest: String?
    for _ in 0..<Self.pagesOfStatuses {
      let reply = try await client.statuses(of: id, olderThan: oldest)
      guard reply.status == 200, case .array(let statuses) = reply.json ?? .null,
        !statuses.isEmpty
      else { return nil }
      if let found = statuses.first(where: shows) { return receipt(found) }
      oldest = MastodonClient.id(statuses.last?["id"])
      if oldest == nil { return nil }
    }
    return nil
  }

  private func shows(_ status: JSONValue) -> Bool {
    guard case .array(let attachments) = status["media_attachments"] ?? .null else { return false }
    return attachments.contains { $0["id"]?.text == media }
  }

  private var status: JSONValue {
    var members: [String: JSONValue] = [
      "status": .string(handoff.title ?? ""),
      "media_ids": .array([.string(media)]),
    ]
    if let visibility = settings.visibility { members["visibility"] = .string(visibility) }
    if let language = settings.language { members["language"] = .string(language) }
    return .object(members)
  }

  private func receipt(_ status: JSONValue?) -> Receipt? {
    guard let id = MastodonClient.id(status?["id"]) else { return nil }
    var output: [String: JSONValue] = ["id": .string(id)]
    // Statuses that only their author sees may have none.
    if let url = status?["url"]?.text { output["url"] = .string(String(url.prefix(2000))) }
    return Receipt(output)
  }

  private func pause(_ time: Duration) async throws {
    do {
      try await Task.sleep(for: time)
    } catch {
      throw cancelled
    }
  }

  private var cancelled: ResultError {
    ResultError(.interrupted, "given up while posting", effect: .unknown)
  }

  private func unknown(_ reason: String) -> ResultError {
    ResultError(
      .network,
      "it may have been published: \(reason)",
      effect: .unknown,
      remedy: "Look at the account; then retry, or adopt the status."
    )
  }
}
