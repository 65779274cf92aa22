import HandoffCore
import Paths

/// Leads what a person calls a file to the one path under which its drop folder has it.
///
/// A folder compares paths byte by byte, so `exports/./a.mp4`, or a way through a symbolic link into a
/// nested folder, would be another file under another folder's rules.
struct FolderPaths: Sendable {
  /// As configured.
  private let folders: [BytePath]

  init(_ folders: some Sequence<DropFolderSettings>) {
    self.folders = folders.map(\.path)
  }

  /// The paths that may be meant, the likeliest first: the file of this name, then what a symbolic link
  /// of this name leads to.
  ///
  /// Blocks while links are read.
  func places(of path: BytePath) -> [BytePath] {
    let named = place(of: resolved(path.parent).appending(path.lastComponent))
    let led = place(of: resolved(path))
    let hasName = path.lastComponent != "." && path.lastComponent != ".."
    return hasName && named != led ? [named, led] : [led]
  }

  /// A path without symbolic links, as the deepest folder that holds it has it.
  private func place(of path: BytePath) -> BytePath {
    let holding = folders.map { (folder: $0, root: resolved($0)) }
      .filter { path.relative(to: $0.root) != nil }
      .max { $0.root.bytes.count < $1.root.bytes.count }
    guard let holding, let relative = path.relative(to: holding.root) else { return path }
    return holding.folder.appending(relative)
  }
}
