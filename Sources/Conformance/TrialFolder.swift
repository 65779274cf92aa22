import Glibc
import LinuxSystem
import Paths

/// The folders of one check, removed with everything in them when the check lets go of them.
final class TrialFolder: Sendable {
  let path: BytePath

  /// Makes them.
  init(in folders: TrialFolders) throws {
    path = try folders.make()
    for folder in [work, grants, own, scratch] { try Directory.create(folder) }
  }

  deinit {
    do {
      try Directory.removeTree(path)
    } catch {
      // What the plugin has made unremovable stays in the folder for temporary files.
    }
  }

  /// `HANDOFF_WORK`.
  var work: BytePath { path.appending("work") }
  /// Where granted files are.
  var grants: BytePath { path.appending("grants") }
  /// For a setting that names a folder.
  var own: BytePath { path.appending("settings") }
  /// `TMPDIR`.
  var scratch: BytePath { path.appending("tmp") }
}
