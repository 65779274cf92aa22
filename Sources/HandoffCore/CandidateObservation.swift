package import Paths

/// What was noticed of a file in a drop folder.
package enum CandidateObservation: Hashable, Sendable {
  /// An event. `closed` after `close_write`: the writer has let go of it.
  case changed(closed: Bool)
  /// It got its name, or that of a folder above it, by a rename.
  ///
  /// `closedSince` after a `close_write` that followed: whether it was written to after the rename is
  /// still open.
  case renamed(closedSince: Bool)
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
    case (.renamed, .attributes), (.renamed, .listed): self
    case (.renamed, .changed(closed: true)): .renamed(closedSince: true)
    case (.attributes, .listed): self
    case (_, .changed), (_, .renamed), (_, .attributes), (_, .listed), (_, .irregular),
      (_, .vanished):
      later
    }
  }
}
