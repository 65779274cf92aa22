package import Paths

extension SettleTracker {
  /// File systems below a drop folder are away: what was in them is not known to be there, nor to be
  /// gone.
  package mutating func suspend(below directories: Set<BytePath>) {
    guard !directories.isEmpty else { return }
    for (path, candidate) in candidates
    where !candidate.isInFlight && path.isInside(anyOf: directories) {
      candidates.removeValue(forKey: path)
      forgetScratchName(path, candidate)
    }
  }

  /// All that is in a directory is known: its folder was listed, and nothing in the directory was left
  /// out.
  func isListed(_ directory: BytePath, in folder: Int) -> Bool {
    guard completedFolders.contains(folder) else { return false }
    let unlisted = unlistedPlaces[folder] ?? []
    return !directory.isInside(anyOf: unlisted) && !unlisted.contains { $0.isInside(directory) }
  }
}
