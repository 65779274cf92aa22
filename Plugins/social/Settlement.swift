import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Publishes what was prepared, at most once for ever, and finds out what became of it.
///
/// While the service knows the key a publication whose answer was lost is repeated with it; after that, and when
/// the repetition shows nothing, it is looked for. What is still not certain then is an unknown effect, never a
/// success and never another publication.
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
    var doubt = doubt
    var pauses = pace.pauses.makeIterator()
    while doubt == nil || (mayRepeat && now.since(since) < platform.keyLifetime) {
      if doubt != nil, platform.looksBeforeRepeating, let answer = try await glance(prepared, since)
      {
        return try await result(of: answer, prepared, since)
      }
      let wait: Double?
      switch try await attempt(prepared) {
      case .published(let receipt): return receipt
      case .pending(let pending, _): return try await follow(prepared, pending, since: since)
      case .refused(let error):
        if doubt == nil { try await giveUp(prepared, error) }
        doubt = error.message
        // Only what passes by itself is worth another try.
        let pause = error.retry == .later ? pauses.next() : nil
        // A longer wait is the broker's: it is looked for now.
        let asked = Double(error.retryAfter ?? 0)
        wait = pause.flatMap { asked > settings.pollLimit ? nil : max($0, asked) }
      case .unknown(let text):
        doubt = text
        wait = pauses.next()
      }
      guard let wait else { break }
      try await rest(wait, 0.9, "trying again: \(doubt ?? "")")
    }
    return try await lookUp(prepared, since, doubt ?? "")
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
  private var pace: Pace { settings.pace(context) }

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

  // MARK: Looking

  /// Looks once; nil where that shows nothing certain, or that it is not there.
  private func glance(_ prepared: JSONValue, _ since: Timestamp) async throws -> Finding? {
    do {
      switch try await platform.find(post, prepared, since: since) {
      case .published(let receipt): return .published(receipt)
      case .pending(let pending): return .pending(pending)
      case .absent, .unknown: return nil
      }
    } catch is CancellationError {
      throw Self.cancelled
    } catch {
      await context.log(.info, "looking for it before trying again: \(error)")
      return nil
    }
  }

  /// Looks for it until that shows something, or patience ends.
  private func lookUp(
    _ prepared: JSONValue,
    _ since: Timestamp,
    _ doubt: String
  ) async throws -> Receipt? {
    var pauses = pace.pauses.makeIterator()
    while true {
      await context.progress(0.95, "looking whether it was published")
      let trouble: String
      do {
        let finding = try await platform.find(post, prepared, since: since)
        guard case .unknown(let text) = finding else {
          return try await result(of: finding, prepared, since)
        }
        trouble = text
      } catch let failure as HTTPFailure {
        trouble = "\(failure)"
      } catch let error as ResultError where error.retry == .later {
        trouble = error.message
      } catch let error as ResultError {
        throw unknown("\(doubt); looking for it: \(error.message)", remedy: error.remedy)
      } catch is CancellationError {
        throw Self.cancelled
      }
      guard let pause = pauses.next() else {
        throw unknown("\(doubt); looking for it: \(trouble)")
      }
      try await rest(pause, 0.95, "looking whether it was published")
    }
  }

  private func result(
    of finding: Finding,
    _ prepared: JSONValue,
    _ since: Timestamp
  ) async throws -> Receipt? {
    switch finding {
    case .published(let receipt): receipt
    case .pending(let pending): try await follow(prepared, pending, since: since)
    case .absent: nil
    case .unknown(let text): throw unknown(text)
    }
  }

  // MARK: Recording and telling

  /// Certainly nothing was published: the step is taken back, so that a later attempt starts anew.
  private func giveUp(_ prepared: JSONValue, _ error: ResultError) async throws -> Never {
    try await note(.uploaded(prepared))
    var error = error
    error.effect = .none
    throw error
  }

  /// Records what only spares a later look: where it cannot be written, the step before stands, which is the
  /// more careful one.
  private func note(_ stage: PublicationStage) async throws {
    do {
      try await context.record(stage, at: settings.place)
    } catch {
      await context.log(.warning, "the step “\(stage.name)” cannot be recorded: \(error)")
    }
  }

  private func rest(_ seconds: Double, _ part: Double, _ message: String) async throws {
    do {
      try await pace.rest(seconds, part, message)
    } catch {
      throw Self.cancelled
    }
  }

  static var cancelled: ResultError {
    ResultError(
      .interrupted,
      "given up while it was published",
      effect: .unknown,
      remedy: "Look at the account: what is there, or scheduled, stays until it is deleted there."
    )
  }

  private func unknown(_ reason: String, remedy: String? = nil) -> ResultError {
    ResultError(
      .network,
      "it may have been published: \(reason)",
      effect: .unknown,
      remedy: remedy ?? "Look at the account; then retry, or adopt what is there."
    )
  }
}
