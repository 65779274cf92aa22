package import HandoffProtocol

/// The parameters of `approve`: one handoff, and what the person has seen.
package struct ApproveParameters: Codable, Sendable {
  package var handoffID: String
  /// The digest of what was seen, or at least its first 16 digits; nil where nobody says.
  package var expect: String?

  package init(handoffID: String, expect: String? = nil) {
    self.handoffID = handoffID
    self.expect = expect
  }

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
    case expect
  }
}

/// The answer to `approve`: what was approved.
package struct ApprovalReport: Codable, Sendable {
  /// One of the files that go.
  package struct File: Codable, Sendable {
    package var localIdentifier: LocalIdentifier
    package var name: String
    package var sha256: ContentDigest
    package var size: Int64

    package init(
      _ localIdentifier: LocalIdentifier,
      name: String,
      sha256: ContentDigest,
      size: Int64
    ) {
      self.localIdentifier = localIdentifier
      self.name = name
      self.sha256 = sha256
      self.size = size
    }

    private enum CodingKeys: String, CodingKey {
      case localIdentifier = "local_identifier"
      case name
      case sha256
      case size
    }
  }

  package var handoff: HandoffReport
  package var files: [File]
  /// Of the request and the contents: what `--expect` takes.
  package var digest: ContentDigest
  /// It had been approved before, and nothing has changed.
  package var wasApproved: Bool

  package init(
    _ handoff: HandoffReport,
    files: [File],
    digest: ContentDigest,
    wasApproved: Bool
  ) {
    self.handoff = handoff
    self.files = files
    self.digest = digest
    self.wasApproved = wasApproved
  }

  private enum CodingKeys: String, CodingKey {
    case handoff
    case files
    case digest
    case wasApproved = "was_approved"
  }
}
