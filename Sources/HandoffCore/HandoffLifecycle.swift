package import HandoffProtocol

/// What can happen to a handoff.
package enum HandoffEvent: Hashable, Sendable {
  /// An attempt claims it.
  case claim
  /// The attempt ends before anything was sent.
  case release
  /// The request is about to be sent: from here on the receiver may act.
  case submit
  /// The receiver has taken it.
  case accept
  /// A valid result, by its kind.
  case success
  case cancelled
  /// A failure with what it left behind, and whether another attempt is due.
  case failure(Effect, retry: Bool)
  /// Nobody knows what the attempt left behind, and it is made again because the receiver drops what it
  /// has had.
  case sendAgain
  /// Refused by a check of either side, with nothing done.
  case refuse
  /// Nobody knows what the attempt left behind.
  case loseTrack
  /// The receiver says that nothing happened: the attempt did not count.
  case notReceived
  /// The destination waits for a person.
  case needUser
  /// The moment has passed.
  case expire
  /// The sender or an operator ends it.
  case withdraw
  /// An operator says that it happened.
  case adopt
  /// An operator asks for another attempt.
  case retry
  /// The ledger was restored from a backup that has it open: nobody knows what happened after that.
  case restore
}

/// A move that the life of a handoff does not have.
package struct IllegalTransition: Error, Hashable, Sendable {
  package let status: HandoffStatus
  package let event: HandoffEvent

  package init(_ status: HandoffStatus, _ event: HandoffEvent) {
    self.status = status
    self.event = event
  }
}

/// The one table of legal moves.
///
/// The ledger calls it inside the transaction that makes the move.
package enum HandoffLifecycle {
  /// The status after an event.
  package static func status(
    after event: HandoffEvent,
    from status: HandoffStatus
  ) throws(IllegalTransition) -> HandoffStatus {
    let next: HandoffStatus? =
      switch status {
      case .pending: afterPending(event)
      case .leased: afterLeased(event)
      case .submitted, .accepted: afterSubmission(event)
      case .outcomeUnknown, .needsUser: afterDoubt(event)
      case .failed: afterFailure(event)
      // A late result may show that it happened after all; an operator decides.
      case .expired, .cancelled: event == .adopt ? .succeeded : nil
      case .succeeded, .refused: nil
      }
    guard let next else { throw IllegalTransition(status, event) }
    return next
  }

  private static func afterPending(_ event: HandoffEvent) -> HandoffStatus? {
    switch event {
    case .claim: .leased
    case .refuse: .refused
    case .failure(.none, retry: false): .failed
    case .expire: .expired
    case .withdraw: .cancelled
    case .restore: .outcomeUnknown
    case .release, .submit, .accept, .success, .cancelled, .sendAgain, .loseTrack, .notReceived,
      .needUser, .adopt, .retry, .failure(.none, retry: true), .failure(.applied, _),
      .failure(.unknown, _):
      nil
    }
  }

  private static func afterLeased(_ event: HandoffEvent) -> HandoffStatus? {
    switch event {
    case .release, .failure(.none, retry: true): .pending
    case .submit: .submitted
    case .refuse: .refused
    case .failure(.none, retry: false): .failed
    case .expire: .expired
    case .withdraw: .cancelled
    case .restore: .outcomeUnknown
    case .claim, .accept, .success, .cancelled, .sendAgain, .loseTrack, .notReceived, .needUser,
      .adopt, .retry, .failure(.applied, _), .failure(.unknown, _):
      nil
    }
  }

  private static func afterSubmission(_ event: HandoffEvent) -> HandoffStatus? {
    switch event {
    case .accept: .accepted
    case .success: .succeeded
    case .cancelled, .withdraw: .cancelled
    case .refuse: .refused
    case .failure(.none, retry: true), .notReceived, .sendAgain: .pending
    case .failure(.none, retry: false), .failure(.applied, _): .failed
    case .failure(.unknown, _), .loseTrack, .restore: .outcomeUnknown
    case .needUser: .needsUser
    case .expire: .expired
    // While a receiver holds it, its own word counts.
    case .claim, .release, .submit, .adopt, .retry: nil
    }
  }

  private static func afterDoubt(_ event: HandoffEvent) -> HandoffStatus? {
    switch event {
    case .accept: .accepted
    case .success, .adopt: .succeeded
    case .cancelled, .withdraw: .cancelled
    case .failure(.none, retry: false), .failure(.applied, _): .failed
    case .failure(.none, retry: true), .notReceived, .retry: .pending
    case .failure(.unknown, _), .loseTrack, .restore: .outcomeUnknown
    case .needUser: .needsUser
    case .expire: .expired
    case .claim, .release, .submit, .sendAgain, .refuse: nil
    }
  }

  /// An operator has it tried again, or says that it happened as a late result shows.
  private static func afterFailure(_ event: HandoffEvent) -> HandoffStatus? {
    switch event {
    case .retry: .pending
    case .adopt: .succeeded
    case .claim, .release, .submit, .accept, .success, .cancelled, .sendAgain, .failure, .refuse,
      .loseTrack, .notReceived, .needUser, .expire, .withdraw, .restore:
      nil
    }
  }
}

extension ResultError {
  /// What a failure means for a handoff.
  ///
  /// - Parameters:
  ///   - status: where the handoff stands.
  ///   - mayRetry: its time for further attempts is not used up.
  ///   - repeatsUnknown: see ``RetryPolicy/repeatsUnknown``.
  /// - Returns: the move; whether it is possible from there is the table's to say.
  package func event(
    from status: HandoffStatus,
    mayRetry: Bool,
    repeatsUnknown: Bool = false
  ) -> HandoffEvent {
    if retry == .later, mayRetry {
      switch effect {
      case .none: return .failure(.none, retry: true)
      case .unknown where repeatsUnknown && (status == .submitted || status == .accepted):
        return .sendAgain
      case .unknown, .applied: break
      }
    }
    if effect == .none, retry != .later, code.isRefusal {
      switch status {
      case .pending, .leased, .submitted, .accepted: return .refuse
      case .outcomeUnknown, .needsUser, .succeeded, .cancelled, .refused, .failed, .expired: break
      }
    }
    return .failure(effect, retry: false)
  }
}

extension ErrorCode {
  /// A check of either side said no to the request itself, so that the same request never passes.
  package var isRefusal: Bool { Self.refusals.contains(self) }

  private static let refusals: Set<ErrorCode> = [
    .accessLimited, .assetDamaged, .assetDeleted, .assetMissing, .callbackUnknown,
    .countOutOfRange, .destinationUnknown, .durationOutOfRange, .malformedRequest,
    .sizeOutOfRange, .unsupportedMedia, .versionIncompatible,
  ]
}
