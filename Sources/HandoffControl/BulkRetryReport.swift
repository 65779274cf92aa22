package import HandoffCore
package import HandoffProtocol

/// The parameters of `retry_failed`: which failed handoffs, and where to go on.
package struct RetryFailedParameters: Codable, Sendable {
  /// Only to this one.
  package var destination: String?
  /// Nothing is changed.
  package var dryRun: Bool
  /// The last handoff of the part before.
  package var after: String?

  package init(destination: String?, dryRun: Bool) {
    self.destination = destination
    self.dryRun = dryRun
  }

  private enum CodingKeys: String, CodingKey {
    case destination
    case dryRun = "dry_run"
    case after
  }
}

/// What `handoff retry --failed` did.
package struct BulkRetryReport: Codable, Sendable {
  /// One that is not tried again.
  package struct LeftOut: Codable, Sendable {
    package var id: String
    package var destination: DestinationName
    package var status: HandoffStatus
    /// One sentence for a person.
    package var reason: String

    package init(
      id: String,
      destination: DestinationName,
      status: HandoffStatus,
      reason: String
    ) {
      self.id = id
      self.destination = destination
      self.status = status
      self.reason = reason
    }
  }

  package var dryRun: Bool
  /// They are due at once; with `dry_run` they would be.
  package var retried: [String] = []
  package var leftOut: [LeftOut] = []
  /// Where the next part begins; absent from what the command shows.
  package var next: String?

  package init(dryRun: Bool) {
    self.dryRun = dryRun
  }

  private enum CodingKeys: String, CodingKey {
    case dryRun = "dry_run"
    case retried
    case leftOut = "left_out"
    case next
  }
}
