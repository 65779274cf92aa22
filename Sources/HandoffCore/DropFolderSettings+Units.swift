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
    filter { path.relative(to: $0.path) != nil }
      .max { $0.path.bytes.count < $1.path.bytes.count }
  }
}
