import HTTPClient
import HandoffPluginKit
import HandoffProtocol

extension Settlement {
  /// Waits until no earlier request is under way, and looks once where the platform has that done.
  ///
  /// - Returns: nil where that shows nothing certain, or that it is not there.
  func beforeRepeating(_ doubt: Doubt) async throws -> Finding? {
    let pause = untilSettled(doubt)
    if pause > 0 { try await rest(pause, 0.9, "waiting whether it appears") }
    guard platform.looksBeforeRepeating else { return nil }
    do {
      let finding = try await platform.find(post, doubt.prepared, since: doubt.since)
      switch finding {
      case .published, .pending: return finding
      case .absent, .unknown: return nil
      }
    } catch is CancellationError {
      throw Self.cancelled
    } catch {
      await context.log(.info, "looking for it before trying again: \(error)")
      return nil
    }
  }

  /// How looking has gone.
  private enum Look: Sendable {
    case found(Finding)
    /// The service did not let it look, which may pass.
    case trouble(String, retryAfter: Int?)
  }

  /// Looks for it until that shows something, or patience ends: soon where looking itself shows no more, after
  /// ``SocialSettings/pollLimit`` where the service is away.
  ///
  /// - Returns: nil where it certainly is not published.
  func lookUp(_ doubt: Doubt) async throws -> Receipt? {
    var pauses = pace.pauses.makeIterator()
    let limit = ContinuousClock.now + .seconds(settings.pollLimit)
    while true {
      await context.progress(0.95, "looking whether it was published")
      // Before the look: what has appeared since is not in it.
      let unsettled = untilSettled(doubt)
      let reason: String
      let pause: Double?
      switch try await look(doubt) {
      case .found(.absent):
        if unsettled == 0 { return nil }
        (reason, pause) = ("", unsettled)
      case .found(.unknown(let text)): (reason, pause) = (text, pauses.next())
      case .found(let finding): return try await result(of: finding, doubt)
      case .trouble(let text, let retryAfter):
        let wait = max(pauses.next() ?? pace.longestPause, Double(retryAfter ?? 0))
        let isOver = ContinuousClock.now + .seconds(wait) > limit
        (reason, pause) = (text, isOver ? nil : wait)
      }
      guard let pause else { throw unknown("\(doubt.reason ?? ""); looking for it: \(reason)") }
      try await rest(pause, 0.95, "looking whether it was published")
    }
  }

  private func look(_ doubt: Doubt) async throws -> Look {
    do {
      return .found(try await platform.find(post, doubt.prepared, since: doubt.since))
    } catch let failure as HTTPFailure {
      return .trouble("\(failure)", retryAfter: nil)
    } catch let error as ResultError where error.retry == .later {
      return .trouble(error.message, retryAfter: error.retryAfter)
    } catch let error as ResultError {
      throw unknown(
        "\(doubt.reason ?? ""); looking for it: \(error.message)",
        remedy: error.remedy
      )
    } catch is CancellationError {
      throw Self.cancelled
    }
  }

  func result(of finding: Finding, _ doubt: Doubt) async throws -> Receipt? {
    switch finding {
    case .published(let receipt): receipt
    case .pending(let pending): try await follow(doubt.prepared, pending, since: doubt.since)
    case .absent: nil
    case .unknown(let text): throw unknown(text)
    }
  }

  /// Seconds for which a request without an answer may still be worked on.
  private func untilSettled(_ doubt: Doubt) -> Double {
    guard let lastSent = doubt.lastSent else { return 0 }
    let left = lastSent + .seconds(settings.inFlight) - .now
    return max(0, left / .seconds(1))
  }
}
