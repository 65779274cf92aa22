package import HandoffProtocol

/// One step in the life of an asset or handoff, as `handoff history --json` shows it.
package struct EventReport: Codable, Sendable {
  /// Counts the ledger's events from 1; 0 for what is told beside them, as notices are.
  package var sequence: Int64
  package var at: Timestamp
  /// What happened: `imported`, `superseded`, `asset_deleted`, `created`, `submitted` and so on.
  package var event: String
  @OrNull package var handoffID: String?
  @OrNull package var localIdentifier: LocalIdentifier?
  @OrNull package var destination: DestinationName?
  @OrNull package var from: String?
  @OrNull package var to: String?
  @OrNull package var attempt: Int?
  /// For people.
  @OrNull package var detail: String?
  /// What else the event tells, by names: of an import its path, bytes, digest and how they were taken.
  package var facts: JSONValue?

  package init(sequence: Int64, at: Timestamp, event: String) {
    self.sequence = sequence
    self.at = at
    self.event = event
  }

  private enum CodingKeys: String, CodingKey {
    case sequence
    case at
    case event
    case handoffID = "handoff_id"
    case localIdentifier = "local_identifier"
    case destination
    case from
    case to
    case attempt
    case detail
    case facts
  }
}
