package import HandoffProtocol
package import Paths

/// All that is known of one file in a drop folder: what `handoff why` shows.
package struct CandidateReport: Hashable, Sendable {
  /// Absolute.
  package var path: BytePath
  /// The drop folder's path.
  package var folder: BytePath
  package var state: CandidateState
  /// Why it is in this state, in one sentence; nil where the state says it all.
  package var reason: String?
  /// When something happens by itself: another look, another try, or giving up.
  package var until: Timestamp?
  package var evidence: [Evidence]
  package var localIdentifier: LocalIdentifier?

  package init(
    path: BytePath,
    folder: BytePath,
    state: CandidateState,
    reason: String? = nil,
    until: Timestamp? = nil,
    evidence: [Evidence] = [],
    localIdentifier: LocalIdentifier? = nil
  ) {
    self.path = path
    self.folder = folder
    self.state = state
    self.reason = reason
    self.until = until
    self.evidence = evidence
    self.localIdentifier = localIdentifier
  }
}

/// One step of one file: told once for each change of its state or reason.
package struct CandidateChange: Hashable, Sendable {
  /// Absolute.
  package var path: BytePath
  /// The drop folder's path.
  package var folder: BytePath
  /// ``CandidateState/unknown`` when the file has gone.
  package var state: CandidateState
  package var reason: String?
  package var localIdentifier: LocalIdentifier?

  package init(
    path: BytePath,
    folder: BytePath,
    state: CandidateState,
    reason: String? = nil,
    localIdentifier: LocalIdentifier? = nil
  ) {
    self.path = path
    self.folder = folder
    self.state = state
    self.reason = reason
    self.localIdentifier = localIdentifier
  }
}
