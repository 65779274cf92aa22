package import HandoffProtocol

/// What is to be known of a destination to tell why a handoff waits there.
package struct DestinationStanding: Hashable, Sendable, Codable {
  /// How its receiver is, as far as the broker knows.
  package enum Condition: String, Hashable, Sendable, Codable {
    /// No broker runs that could tell.
    case unknown
    case up
    /// It does not run, or cannot be reached.
    case down
    /// It failed so often that it is left alone for a while.
    case circuitOpen = "circuit_open"
  }

  /// The configuration has it.
  package var isConfigured = true
  /// A person has paused it, or its receiver wants nothing any more.
  package var isPaused = false
  /// When its quota has a place again; nil where it has one.
  package var quotaFreeAt: Timestamp?
  package var condition = Condition.unknown
  /// Why it is not up, for people.
  package var detail: String?
  /// When it is looked at again; nil where that is not known.
  package var until: Timestamp?
  /// The library is not there, so nothing can be handed off.
  package var isLibraryAway = false

  package init() {}

  private enum CodingKeys: String, CodingKey {
    case isConfigured = "configured"
    case isPaused = "paused"
    case quotaFreeAt = "quota_free_at"
    case condition
    case detail
    case until
    case isLibraryAway = "library_away"
  }
}

extension Handoff {
  /// Why a handoff waits now, from what its row says and how its destination is.
  ///
  /// What only a person or another handoff ends comes before what passes by itself. Of several moments the
  /// last counts: before it nothing happens. A handoff that nothing holds waits for a slot.
  ///
  /// - Parameters:
  ///   - standing: its destination's.
  ///   - now: the present moment.
  /// - Returns: nil for a handoff that is not pending, and for one of which only a running broker could
  ///   tell.
  package func waiting(under standing: DestinationStanding, at now: Timestamp) -> Waiting? {
    guard !status.isFinal else { return nil }
    guard standing.isConfigured else { return Waiting(.destinationUnknown) }
    guard status == .pending else { return nil }
    if let waiting {
      switch waiting.reason {
      case .approval, .after, .superseded: return waiting
      case .publishAt, .quota, .paused, .circuitOpen, .backoff, .slot, .libraryUnavailable,
        .destinationUnknown:
        break
      }
    }
    if standing.isPaused { return Waiting(.paused) }
    let recorded = waiting.flatMap { waiting in
      waiting.until.map { $0 > now } ?? false ? waiting : nil
    }
    let holding =
      [recorded, standing.quotaFreeAt.map { Waiting(.quota, until: $0) }]
      .compactMap(\.self) + standing.obstacles
    if let last = holding.max(by: { $0.isSooner(than: $1) }) { return last }
    return standing.condition == .unknown ? waiting : Waiting(.slot)
  }
}

extension DestinationStanding {
  /// What keeps its receiver from being given anything now.
  fileprivate var obstacles: [Handoff.Waiting] {
    // Without the library no receiver is started: its absence is the cause.
    if isLibraryAway { return [.init(.libraryUnavailable)] }
    return switch condition {
    case .unknown, .up: []
    case .down: [.init(.backoff, until: until)]
    case .circuitOpen: [.init(.circuitOpen, until: until)]
    }
  }
}

extension Handoff.Waiting {
  /// Ends before another; one without a moment is no reason where there is one with.
  fileprivate func isSooner(than other: Handoff.Waiting) -> Bool {
    switch (until, other.until) {
    case (let own?, let others?): own < others
    case (nil, .some): true
    case (_, nil): false
    }
  }
}
