package import Paths

/// How a drop folder is watched.
package enum FolderMode: String, Hashable, Sendable, Codable {
  case events
  case poll
  /// Its root is away.
  case offline
}

/// Where a drop folder stands, as the watch thread sees it.
struct FolderStatus: Hashable, Sendable {
  var mode: FolderMode
  var watches = 0
  /// Directories that could not be watched or listed.
  var uncovered = 0
  /// What is wrong, in one sentence.
  var problem: String?
}

/// Where a drop folder stands: its line in `handoff status`.
package struct FolderReport: Hashable, Sendable {
  package var path: BytePath
  package var mode: FolderMode
  /// Directories with a watch.
  package var watches: Int
  /// Files that are not imported, ignored or refused yet.
  package var candidates: Int
  /// What is wrong, in one sentence; nil if nothing is.
  package var degraded: String?

  package init(
    path: BytePath,
    mode: FolderMode,
    watches: Int,
    candidates: Int,
    degraded: String?
  ) {
    self.path = path
    self.mode = mode
    self.watches = watches
    self.candidates = candidates
    self.degraded = degraded
  }
}
