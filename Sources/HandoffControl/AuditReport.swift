package import HandoffProtocol

/// What `handoff audit --json` shows.
package struct AuditReport: Codable, Sendable {
  /// One thing that is not as the broker has written it.
  package struct Finding: Codable, Sendable {
    /// `changed`, `removed`, `inserted`, `cut`, `handoff_differs` and so on.
    package var kind: String
    /// The events that it is about.
    @OrNull package var first: Int64?
    @OrNull package var last: Int64?
    @OrNull package var handoffID: String?
    @OrNull package var localIdentifier: LocalIdentifier?
    /// One sentence for a person.
    package var message: String

    package init(kind: String, message: String) {
      self.kind = kind
      self.message = message
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case first
      case last
      case handoffID = "handoff_id"
      case localIdentifier = "local_identifier"
      case message
    }
  }

  package var intact: Bool
  /// Events that were proven, and the number of the last one.
  package var events: Int64
  package var lastSequence: Int64
  /// Events that the broker has dropped, and in how many runs.
  package var prunedEvents: Int64
  package var prunedRanges: Int64
  /// Events from before the present key, since the ledger was restored without its own.
  package var unprovenEvents: Int64
  package var handoffs: Int64
  package var assets: Int64
  /// At most a thousand.
  package var findings: [Finding]
  package var findingCount: Int

  package init(
    events: Int64,
    lastSequence: Int64,
    prunedEvents: Int64,
    prunedRanges: Int64,
    unprovenEvents: Int64,
    handoffs: Int64,
    assets: Int64,
    findings: [Finding],
    findingCount: Int
  ) {
    intact = findingCount == 0
    self.events = events
    self.lastSequence = lastSequence
    self.prunedEvents = prunedEvents
    self.prunedRanges = prunedRanges
    self.unprovenEvents = unprovenEvents
    self.handoffs = handoffs
    self.assets = assets
    self.findings = findings
    self.findingCount = findingCount
  }

  private enum CodingKeys: String, CodingKey {
    case intact
    case events
    case lastSequence = "last_sequence"
    case prunedEvents = "pruned_events"
    case prunedRanges = "pruned_ranges"
    case unprovenEvents = "unproven_events"
    case handoffs
    case assets
    case findings
    case findingCount = "finding_count"
  }
}
