package import Paths

extension SettleTracker {
  /// A folder is away: its files are no longer known to be there, nor to be gone.
  package mutating func suspend(folder: Int) {
    for (path, candidate) in candidates where candidate.folder == folder && !candidate.isInFlight {
      candidates.removeValue(forKey: path)
      forgetScratchName(path, candidate)
    }
    listedFolders.removeValue(forKey: folder)
    listings.removeValue(forKey: folder)
    packages = packages.filter { $0.value.folder != folder }
    forgetRemembered(of: folder)
  }

  /// File systems below a drop folder are away: what was in them is not known to be there, nor to be
  /// gone.
  package mutating func suspend(below directories: Set<BytePath>) {
    guard !directories.isEmpty else { return }
    for (path, candidate) in candidates
    where !candidate.isInFlight && path.isInside(anyOf: directories) {
      candidates.removeValue(forKey: path)
      forgetScratchName(path, candidate)
    }
    for (path, package) in packages where path.isInside(anyOf: directories) {
      packages.removeValue(forKey: path)
      forgetRemembered(of: package.folder)
    }
  }

  /// The members of a package that is forgotten are told of anew when they are listed again, so they must
  /// not count as told.
  private mutating func forgetRemembered(of folder: Int) {
    guard folders[folder].rules.hasPackages else { return }
    remembered = remembered.filter { $0.value.folder != folder }
  }
}
