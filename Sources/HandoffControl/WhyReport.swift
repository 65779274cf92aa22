package import HandoffCore
package import HandoffProtocol
package import Paths

/// The evidence for one file as `handoff why PATH --json` shows it.
package struct WhyReport: Codable, Sendable {
  package var path: String
  package var pathBytes: String?
  /// One of CONTRACT.md's states of a file.
  package var state: String
  /// Why it stands there, in one sentence.
  @OrNull package var reason: String?
  /// When something happens to it by itself.
  @OrNull package var until: Timestamp?
  package var evidence: [Evidence]
  @OrNull package var localIdentifier: LocalIdentifier?

  package init(
    _ path: BytePath,
    state: String,
    reason: String? = nil,
    until: Timestamp? = nil,
    evidence: [Evidence] = [],
    localIdentifier: LocalIdentifier? = nil
  ) {
    let report = PathReport(path)
    self.path = report.path
    self.pathBytes = report.pathBytes
    self.state = state
    self.reason = reason
    self.until = until
    self.evidence = evidence
    self.localIdentifier = localIdentifier
  }

  private enum CodingKeys: String, CodingKey {
    case path
    case pathBytes = "path_bytes"
    case state
    case reason
    case until
    case evidence
    case localIdentifier = "local_identifier"
  }
}
