package import Paths

extension DropFolderSettings {
  /// The package that a path in this folder belongs to; nil where each export counts for itself.
  package func packageDirectory(of path: BytePath) -> BytePath? {
    package ? path.packageDirectory(in: self.path) : nil
  }
}

extension Collection<DropFolderSettings> {
  /// The deepest folder that holds a path: among nested ones it decides.
  package func deepest(holding path: BytePath) -> DropFolderSettings? {
    deepestIndex(holding: path).map { self[$0] }
  }

  /// The place of ``deepest(holding:)``.
  package func deepestIndex(holding path: BytePath) -> Index? {
    indices.filter { path.relative(to: self[$0].path) != nil }
      .max { self[$0].path.bytes.count < self[$1].path.bytes.count }
  }
}
