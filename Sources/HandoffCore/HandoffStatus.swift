/// Where a handoff stands; see DESIGN.md section 6.
package enum HandoffStatus: String, Hashable, Sendable, Codable, CaseIterable {
  case pending
  case leased
  case submitted
  case accepted
  case outcomeUnknown = "outcome_unknown"
  case needsUser = "needs_user"
  case succeeded
  case cancelled
  case refused
  case failed
  case expired

  /// Never changes any more.
  package var isFinal: Bool {
    switch self {
    case .succeeded, .cancelled, .refused, .failed, .expired: true
    case .pending, .leased, .submitted, .accepted, .outcomeUnknown, .needsUser: false
    }
  }

  /// A receiver holds it, as far as is known: it was submitted and has not ended.
  package var isInFlight: Bool {
    switch self {
    case .submitted, .accepted, .needsUser: true
    case .pending, .leased, .outcomeUnknown, .succeeded, .cancelled, .refused, .failed, .expired:
      false
    }
  }
}

/// Why a pending handoff waits.
///
/// ``destinationUnknown`` is never recorded: the configuration says it, of everything that is open.
package enum WaitingReason: String, Hashable, Sendable, Codable, CaseIterable {
  case approval
  case after
  case publishAt = "publish_at"
  case quota
  case paused
  case circuitOpen = "circuit_open"
  case backoff
  case slot
  case superseded
  case libraryUnavailable = "library_unavailable"
  case destinationUnknown = "destination_unknown"
}
