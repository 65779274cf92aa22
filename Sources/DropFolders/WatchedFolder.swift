import HandoffCore
import Paths

/// One drop folder, as the watch thread has it.
struct WatchedFolder {
  /// What tells directories apart.
  struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  let settings: DropFolderSettings
  let names: TemporaryNames
  /// The root's inode, while the folder is there.
  var root: Identity?
  /// The root's watch, while the folder is there and not polled.
  var watch: CInt?
  /// The mount point that the folder is at or below, while it is there.
  var mount: BytePath?
  /// What was mounted there is away: the folder is looked for only once something is mounted again.
  var missingMount: BytePath?
  /// The number of the last listing.
  ///
  /// It only ever grows, also when the root is lost.
  var round: UInt32 = 0
  var status = FolderStatus(mode: .offline)
  /// Mount points below the root whose file system is away.
  var away: Set<BytePath> = []
  /// Mount points below the root.
  var mounts: Set<BytePath> = []
  /// Of the listing that is under way.
  var listing = Listing()
  /// Places of the last listing that could not be covered, which were told already.
  var told: Set<BytePath> = []
  /// What the log was last told to be wrong.
  var toldTroubles: Set<String> = []

  /// What one listing has met.
  struct Listing {
    /// Places that were not listed, or are away: what is below them is not known to be gone.
    var unlisted: Set<BytePath> = []
    var failed: Set<BytePath> = []
    var mounts: Set<BytePath> = []
  }

  init(_ settings: DropFolderSettings) {
    self.settings = settings
    self.names = TemporaryNames(settings)
  }

  var path: BytePath { settings.path }
}
