import HandoffCore
import Paths

/// One drop folder, as the watch thread has it.
struct WatchedFolder {
  let settings: DropFolderSettings
  let names: TemporaryNames
  /// The root's inode, while the folder is there.
  var root: (device: UInt64, inode: UInt64)?
  /// The root's watch, while the folder is there and not polled.
  var watch: CInt?
  /// The number of the last listing.
  ///
  /// It only ever grows, also when the root is lost.
  var round: UInt32 = 0
  var status = FolderStatus(mode: .offline)
  /// It was a mount: what is at its path now, if no file system is mounted there, is not the folder.
  var wasUnmounted = false
  /// The listing that is under way has met nothing that it could not list.
  var isListingComplete = true

  init(_ settings: DropFolderSettings) {
    self.settings = settings
    self.names = TemporaryNames(settings)
  }

  var path: BytePath { settings.path }

  mutating func note(uncovered problem: String) {
    status.uncovered += 1
    if status.problem == nil { status.problem = problem }
  }
}
