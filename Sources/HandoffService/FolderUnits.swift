import HandoffCore
import Paths

/// What belongs together in the drop folders: packages, and exports of one stem.
struct FolderUnits: Sendable {
  private let folders: [DropFolderSettings]
  /// By the folder's path.
  private let preferences: [BytePath: ContainerPreference]

  init(_ folders: [DropFolderSettings]) {
    self.folders = folders
    let preferences = folders.compactMap { folder in
      ContainerPreference(folder, remuxed: folder.writers.flatMap(\.remuxed))
        .map { (folder.path, $0) }
    }
    self.preferences = Dictionary(preferences) { first, _ in first }
  }

  func folder(of path: BytePath) -> DropFolderSettings? { folders.deepest(holding: path) }

  /// The directory of which a path is a member; nil where it counts for itself.
  func package(of path: BytePath) -> BytePath? {
    folder(of: path)?.packageDirectory(of: path)
  }

  /// The paths whose exports would be taken instead of this one, best first.
  func preferred(to path: BytePath) -> [BytePath] {
    guard let folder = folder(of: path), let preference = preferences[folder.path] else {
      return []
    }
    return preference.better(than: path)
  }
}
