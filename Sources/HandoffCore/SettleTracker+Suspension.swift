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
}
