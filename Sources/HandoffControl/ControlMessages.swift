package import HandoffProtocol
package import Paths

/// What the command line may ask of a running broker, over `STATE/handoff.sock`.
package enum ControlMethod: String, Sendable, CaseIterable {
  case status
  case why
  case importFile = "import"
  case send
  /// The checks of `send`, and the receiver's; makes no handoff.
  case dryRun = "dry_run"
  case wait
  case cancel
  case retry
  /// Tries all failed handoffs again that have certainly done nothing.
  case retryFailed = "retry_failed"
  /// Judges a file again; with the parameters and the answer of `why`.
  case retryFile = "retry_file"
  case adopt
  /// Takes a result that came by itself.
  case result
  /// Widens a limited destination by one asset.
  case allow
  case delete
  case fsck
  case fsckProgress = "fsck_progress"
  case fsckStop = "fsck_stop"
  case gc
  case resumeHandoffs = "resume_handoffs"
  /// A destination that was paused or stopped goes on.
  case resume
  /// The configuration file is applied.
  case reload
  case pause
  case approve
  /// How all destinations are, so that the command line can tell why handoffs wait.
  case standings
  /// The configured destinations, each as ``DestinationReport``.
  case destinations
  /// What is right and wrong with each destination, looked at without handing anything off.
  case destinationChecks = "destination_checks"
  /// Has a receiver look again at one handoff that succeeded; with the parameters of `wait`.
  case verify
}

/// The parameters of `status`: which part of the files it lists, since there may be very many.
package struct StatusParameters: Codable, Sendable {
  /// Only files whose paths come after this one.
  package var candidatesAfter: BytePath?

  package init(candidatesAfter: BytePath? = nil) {
    self.candidatesAfter = candidatesAfter
  }

  private enum CodingKeys: String, CodingKey {
    case candidatesAfter = "candidates_after"
  }
}

/// The parameters of `delete`: one asset.
package struct DeleteParameters: Codable, Sendable {
  package var localIdentifier: LocalIdentifier
  /// Also where it has open handoffs.
  package var force: Bool

  package init(localIdentifier: LocalIdentifier, force: Bool) {
    self.localIdentifier = localIdentifier
    self.force = force
  }

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case force
  }
}

/// The parameters of `allow`: one asset, one destination.
package struct AllowParameters: Codable, Sendable {
  package var localIdentifier: LocalIdentifier
  package var destination: String

  package init(localIdentifier: LocalIdentifier, destination: String) {
    self.localIdentifier = localIdentifier
    self.destination = destination
  }

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case destination
  }
}

/// The parameters of `why`: a path, absolute.
package struct WhyParameters: Codable, Sendable {
  package var path: BytePath

  package init(path: BytePath) {
    self.path = path
  }
}

/// The parameters of `import`: one file, by its absolute path.
package struct ImportParameters: Codable, Sendable {
  package var path: BytePath
  /// Move it in; otherwise it is kept.
  package var take: Bool
  /// A person takes the responsibility for a file that is not provably complete.
  package var acceptIncomplete: Bool

  package init(path: BytePath, take: Bool, acceptIncomplete: Bool) {
    self.path = path
    self.take = take
    self.acceptIncomplete = acceptIncomplete
  }

  private enum CodingKeys: String, CodingKey {
    case path
    case take
    case acceptIncomplete = "accept_incomplete"
  }
}

/// The parameters of `send` and `dry_run`: a sender's document, and what only the command line asks.
package struct SendParameters: Codable, Sendable {
  package var request: SendRequest
  /// Also where it has been handed off before.
  package var again: Bool
  /// It is one of many that are sent at once, and gives way to new exports.
  package var isBulk: Bool
  /// In a dry run: other destinations to which the same assets are about to be sent.
  package var planned: [DestinationName]

  package init(
    _ request: SendRequest,
    again: Bool = false,
    isBulk: Bool = false,
    planned: [DestinationName] = []
  ) {
    self.request = request
    self.again = again
    self.isBulk = isBulk
    self.planned = planned
  }

  private enum CodingKeys: String, CodingKey {
    case again
    case isBulk = "bulk"
    case planned
  }

  /// The document's members and these stand beside each other.
  package init(from decoder: any Decoder) throws {
    request = try SendRequest(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    again = try container.decodeIfPresent(Bool.self, forKey: .again) ?? false
    isBulk = try container.decodeIfPresent(Bool.self, forKey: .isBulk) ?? false
    planned = try container.decodeIfPresent([DestinationName].self, forKey: .planned) ?? []
  }

  package func encode(to encoder: any Encoder) throws {
    try request.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    if again { try container.encode(again, forKey: .again) }
    if isBulk { try container.encode(isBulk, forKey: .isBulk) }
    if !planned.isEmpty { try container.encode(planned, forKey: .planned) }
  }
}

/// The parameters of `result`: a URL or a document as it came, with its state token.
package struct ResultParameters: Codable, Sendable {
  package var text: String

  package init(text: String) {
    self.text = text
  }
}

/// The parameters of `wait` (answered when the handoff has ended or needs a person), and of a person's
/// decisions `cancel`, `retry` and `adopt`.
package struct WaitParameters: Codable, Sendable {
  package var handoffID: String

  package init(handoffID: String) {
    self.handoffID = handoffID
  }

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
  }
}
