package import HandoffProtocol

/// One check of one export, and how it went: what `handoff why` shows.
package struct Evidence: Hashable, Sendable, Codable {
  /// The checks, in the order in which they are made.
  package enum Check: String, Hashable, Sendable, Codable {
    /// The name is not a temporary or ignored one.
    case name
    /// It came after its folder was seen for the first time.
    case arrival
    /// It is a regular file that can be read.
    case readable
    /// No event for the quiet period.
    case quiet
    /// A read lease was granted: nobody has it open for writing.
    case noWriter = "no_writer"
    /// The container's outer structure fills the file.
    case structure
    /// The last index entry lies within the file.
    case index
    /// The first and the last indexed video packet can be read and are not all zeros.
    case packets
    /// No hole before the end.
    case holes
    /// No packet is encrypted.
    case encryption
    /// There is a video track that can be decoded.
    case video
    /// The probe itself worked.
    case probe
    /// What the folder's `proof` asks for is there.
    case proof
    /// Its sidecar is there and valid, or is no longer waited for.
    case sidecar
    /// No export of the same stem would be preferred.
    case preference
    /// The whole directory that it came in is finished.
    case package
  }

  package var check: Check
  package var passed: Bool
  /// One sentence for a person.
  package var detail: String
  /// Since when it has been so; set where the evidence is kept.
  package var since: Timestamp?
  /// True for a check that is still to be made, which counts as not passed; else absent.
  package var pending: Bool?

  package init(_ check: Check, passed: Bool, _ detail: String, since: Timestamp? = nil) {
    self.check = check
    self.passed = passed
    self.detail = detail
    self.since = since
  }

  /// A check that is still to be made.
  package static func pending(
    _ check: Check,
    _ detail: String = "not yet checked",
    since: Timestamp
  ) -> Evidence {
    var evidence = Evidence(check, passed: false, detail, since: since)
    evidence.pending = true
    return evidence
  }
}

/// What the probe says of a whole file.
package struct ProbeVerdict: Hashable, Sendable, Codable {
  /// What follows from the checks.
  package enum Judgement: String, Hashable, Sendable, Codable {
    /// All checks passed.
    case complete
    /// All checks passed, but the format declares no end: a stalled copy would look the same.
    case notProvable = "not_provable"
    /// Something is missing that a finished export has: another look makes sense after a change.
    case incomplete
    /// Whole or not, this is no video that can be handed off (encrypted, no video track, corrupt).
    case unsuitable
    /// The probe crashed, hung, or ran out of memory: the file has no verdict.
    case failed
  }

  package var judgement: Judgement
  /// Present where judgement is ``Judgement/complete`` or ``Judgement/notProvable``.
  package var facts: MediaFacts?
  package var evidence: [Evidence]

  package init(_ judgement: Judgement, facts: MediaFacts? = nil, evidence: [Evidence]) {
    self.judgement = judgement
    self.facts = facts
    self.evidence = evidence
  }

  /// The first check that did not pass, in words; nil if all passed.
  package var reason: String? { evidence.first { !$0.passed }?.detail }

  /// The checks of a container, in the order in which they are made.
  package static let containerChecks: [Evidence.Check] = [
    .structure, .index, .packets, .holes, .encryption, .video,
  ]
}
