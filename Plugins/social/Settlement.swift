import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Publishes what was prepared, at most once for ever, and finds out what became of it.
///
/// While the service knows the key a publication whose answer was lost is repeated with it; after that, and when
/// the repetition shows nothing, it is looked for. What is still not certain then is an unknown effect, never a
/// success and never another publication.
///
/// A request without an answer may still be worked on by the service. For ``SocialSettings/inFlight`` nothing is
/// repeated, and that it is not there proves nothing.
struct Settlement: Sendable {
  let context: ReceiveContext
  let platform: any Platform
  let settings: SocialSettings
  let post: Post
  /// The words are those that were published, or would have been.
  let mayRepeat: Bool

  /// Publishes, unless an earlier process may have.
  ///
  /// - Parameters:
  ///   - prepared: what is published.
  ///   - since: when it may first have been.
  ///   - doubt: why it may have been already; nil where it certainly was not.
  /// - Returns: nil where it certainly is not published, without a reason why not.
  /// - Throws: `ResultError`, with effect `unknown` where nobody knows.
  func settle(_ prepared: JSONValue, since: Timestamp, doubt: String?) async throws -> Receipt? {
    var doubt = Doubt(prepared, since: since, reason: doubt)
    var pauses = pace.pauses.makeIterator()
    while doubt.reason == nil || mayRepeat(doubt) {
      if doubt.reason != nil, let answer = try await beforeRepeating(doubt) {
        return try await result(of: answer, doubt)
      }
      let wait: Double?
      switch try await attempt(prepared) {
      case .published(let receipt): return receipt
      case .pending(let pending, _): return try await follow(prepared, pending, since: since)
      case .refused(let error):
        if doubt.reason == nil { try await giveUp(prepared, error) }
        doubt.reason = error.message
        // Only what passes by itself is worth another try.
        let pause = error.retry == .later ? pauses.next() : nil
        // A longer wait is the broker's: it is looked for now.
        let asked = Double(error.retryAfter ?? 0)
        wait = pause.flatMap { asked > settings.pollLimit ? nil : max($0, asked) }
      case .unknown(let text):
        doubt.sent(text)
        wait = pauses.next()
      }
      guard let wait else { break }
      try await rest(wait, 0.9, "trying again: \(doubt.reason ?? "")")
    }
    return try await lookUp(doubt)
  }

  /// Waits until the service shows what it has taken.
  ///
  /// - Returns: nil where it certainly is not published, without a reason why not.
  func follow(
    _ prepared: JSONValue,
    _ pending: JSONValue,
    since: Timestamp
  ) async throws -> Receipt? {
    var pending = pending
    try await note(.pending(prepared, pending: pending, since: since))
    let moment = max(now, post.scheduledAt ?? now)
    let deadline = moment.advanced(by: .seconds(settings.pollLimit))
    while true {
      var wait = settings.pollInterval
      var standing = "the service has taken it"
      switch try await observe(pending) {
      case .published(let receipt): return receipt
      case .pending(let other, let retryAfter):
        if other != pending {
          pending = other
          try await note(.pending(prepared, pending: pending, since: since))
        }
        wait = min(max(wait, Double(retryAfter ?? 0), untilMoment), settings.pollLimit)
      case .refused(let error): try await giveUp(prepared, error)
      case .unknown(let text): standing = text
      }
      guard now < deadline else {
        throw unknown("it is taken, and still not published: \(standing)")
      }
      try await rest(wait, 0.95, standing)
    }
  }

  private var now: Timestamp { SystemMoment.now() }

  /// The service still answers the key with what it has made.
  private func mayRepeat(_ doubt: Doubt) -> Bool {
    mayRepeat && now.since(doubt.since) < platform.keyLifetime
  }

  /// Until the moment for which it is scheduled, but no more than thirty questions at once.
  private var untilMoment: Double {
    guard let moment = post.scheduledAt else { return 0 }
    return min(30 * settings.pollInterval, Double(moment.since(now).wholeMilliseconds) / 1000)
  }

  private func attempt(_ prepared: JSONValue) async throws -> PublishAnswer {
    do {
      return try await platform.publish(post, prepared)
    } catch let failure as HTTPFailure {
      guard failure.wasSent else {
        return .refused(
          ResultError(.network, "publishing: \(failure)", effect: .none, retry: .later)
        )
      }
      return .unknown(failure.reason)
    } catch let error as ResultError {
      return error.effect == .none ? .refused(error) : .unknown(error.message)
    } catch is CancellationError {
      throw Self.cancelled
    }
  }

  private func observe(_ pending: JSONValue) async throws -> PublishAnswer {
    do {
      return try await platform.observe(post, pending)
    } catch let failure as HTTPFailure {
      return .unknown("\(failure)")
    } catch let error as ResultError where error.retry == .later {
      return .unknown(error.message)
    } catch let error as ResultError {
      throw unknown("it is taken; \(error.message)", remedy: error.remedy)
    } catch is CancellationError {
      throw Self.cancelled
    }
  }
}
