package import Paths

/// What was noticed of a file in a drop folder.
package enum CandidateObservation: Hashable, Sendable {
  /// An event. `closed` after `close_write` and `moved_to`: the writer has let go of it.
  case changed(closed: Bool)
  /// Mode, owner, times or links have changed.
  case attributes
  /// A listing found a regular file.
  case listed(FileIdentity)
  /// A listing found something that is never opened; the text says what.
  case irregular(String)
  /// It was deleted or moved away.
  case vanished

  /// The two observations of one file as one, the later one deciding.
  package func followed(by later: CandidateObservation) -> CandidateObservation {
    switch (self, later) {
    case (.changed, .attributes), (.changed, .listed): self
    case (.attributes, .listed): self
    case (_, .changed), (_, .attributes), (_, .listed), (_, .irregular), (_, .vanished): later
    }
  }
}
