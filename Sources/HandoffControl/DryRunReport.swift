package import HandoffCore
package import HandoffProtocol

/// What would become of a handoff to one destination, as `handoff send --dry-run --json` shows it.
package struct DryRunReport: Codable, Sendable {
  /// What the checks say.
  package enum Verdict: String, Codable, Sendable {
    /// Nothing speaks against it.
    case accepted
    /// It would be refused; the error says by which side.
    case refused
    /// It would wait.
    case waiting
  }

  /// Whether the receiver itself was asked.
  package enum Preflight: String, Codable, Sendable {
    /// It was, and has answered.
    case answered
    /// It could not be; ``DryRunReport/note`` says why.
    case unavailable
    /// The sender's own checks had said no, or that it would wait.
    case skipped
  }

  package var destination: DestinationName
  package var localIdentifiers: [LocalIdentifier]
  package var verdict: Verdict
  /// In which it would be sent.
  @OrNull package var protocolVersion: Int?
  @OrNull package var error: HandoffReport.Failure?
  @OrNull package var waiting: HandoffReport.Waiting?
  package var preflight: Preflight
  /// What the receiver would change, one sentence each.
  package var changes: [String]
  /// Why the receiver was not asked.
  @OrNull package var note: String?

  package init(
    _ destination: DestinationName,
    _ localIdentifiers: [LocalIdentifier],
    _ verdict: Verdict
  ) {
    self.destination = destination
    self.localIdentifiers = localIdentifiers
    self.verdict = verdict
    self.preflight = .skipped
    self.changes = []
  }

  private enum CodingKeys: String, CodingKey {
    case destination
    case localIdentifiers = "local_identifiers"
    case verdict
    case protocolVersion = "protocol_version"
    case error
    case waiting
    case preflight
    case changes
    case note
  }
}

extension HandoffReport.Failure {
  /// The failure as one side has it.
  package init(_ error: ResultError, _ side: Handoff.Side?) {
    code = error.code
    message = error.message
    effect = error.effect
    self.side = side
    localIdentifier = error.localIdentifier
    remedy = error.remedy
  }
}
