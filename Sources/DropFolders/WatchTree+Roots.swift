import CInotifyTools
import Glibc
import HandoffCore
import HandoffLog
import LinuxSystem
import Paths

/// The roots of the drop folders, and what is mounted at and below them: there, away, or back.
extension WatchTree {
  /// Why a root is no longer what it was.
  enum Loss {
    case deleted
    case movedAway
    case unmounted
    case watchEnded
    case missing
    case replaced
    case unreadable(SystemError)

    /// - Parameter mask: of an event of the root itself; see inotify(7).
    init?(_ mask: UInt32) {
      if mask & UInt32(IN_UNMOUNT) != 0 {
        self = .unmounted
      } else if mask & UInt32(IN_DELETE_SELF) != 0 {
        self = .deleted
      } else if mask & UInt32(IN_MOVE_SELF) != 0 {
        self = .movedAway
      } else {
        return nil
      }
    }

    var reason: String {
      switch self {
      case .deleted: "the folder was deleted"
      case .movedAway: "the folder was moved away"
      case .unmounted: "its file system was unmounted"
      case .watchEnded: "its watch has ended"
      case .missing: "the folder is not there"
      case .replaced: "another folder is in its place"
      case .unreadable(let error): "\(error)"
      }
    }

    /// The kernel has ended the watches, or is about to.
    var endsWatches: Bool {
      switch self {
      case .deleted, .unmounted, .watchEnded: true
      case .movedAway, .missing, .replaced, .unreadable: false
      }
    }
  }

  /// Finds the root, watches and lists the folder, if it is there and was not before.
  func open(_ index: Int) {
    guard folders[index].root == nil else { return }
    do {
      try findRoot(index)
    } catch {
      let problem = "\(error)"
      guard folders[index].status != FolderStatus(mode: .offline, problem: problem) else { return }
      folders[index].status = FolderStatus(mode: .offline, problem: problem)
      logger.warning(
        "a drop folder is not there",
        [.folder: folders[index].path.displayText, .error: problem],
        cause: absence(of: index)
      )
      return inbox.put(folders[index].status, index)
    }
    guard folders[index].root != nil else { return }
    logger.ended(
      absence(of: index),
      "a drop folder is there again",
      [.folder: folders[index].path.displayText]
    )
    list(index)
  }

  /// The cause of the log's warnings that a folder is away.
  private func absence(of index: Int) -> String {
    "drop folder \(folders[index].path.displayText)"
  }

  private func findRoot(_ index: Int) throws(SystemError) {
    let path = folders[index].path
    if let mount = folders[index].missingMount, try !MountPoint.isMounted(mount) {
      throw SystemError(ENODEV, "nothing is mounted at \(mount.displayText), so open", path)
    }
    // The root alone may be a symbolic link: whoever configured it chose so.
    let file = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
    let found = try file.status().directory
    if let other = folders.indices.first(where: { $0 != index && folders[$0].root == found }) {
      // Unless the other has just lost it.
      checkRoot(other)
      guard folders[other].root == nil else {
        throw SystemError(EEXIST, "the same folder as \(folders[other].path.displayText)", path)
      }
    }
    folders[index].mount = try MountPoint.above(path)
    folders[index].missingMount = nil
    folders[index].root = found
  }

  /// The folder's root is no longer where it was: it is looked for at once.
  func lose(_ index: Int, _ loss: Loss) {
    guard folders[index].root != nil else { return }
    logger.warning(
      "a drop folder is lost",
      [.folder: folders[index].path.displayText, .reason: loss.reason],
      cause: absence(of: index)
    )
    // The watch may belong to another folder by now, which has found the directory elsewhere.
    if let watch = folders[index].watch, directories[watch]?.folder == index {
      for watch in directories.forgetTree(watch) {
        if loss.endsWatches { tools?.noteDeadEntry() } else { tools?.remove(watch) }
      }
    }
    folders[index].root = nil
    folders[index].watch = nil
    folders[index].mounts = []
    folders[index].away = []
    folders[index].told = []
    if case .unmounted = loss { folders[index].missingMount = folders[index].mount }
    folders[index].status = FolderStatus(mode: .offline, problem: loss.reason)
    inbox.putLost(folder: index, folders[index].status)
    open(index)
  }

  /// Looks whether each root is still the one that is watched, and for those that are away.
  func checkRoots() {
    for index in folders.indices {
      checkRoot(index)
      open(index)
    }
  }

  /// Looks whether a root is still the one that is watched or polled.
  func checkRoot(_ index: Int) {
    guard let root = folders[index].root else { return }
    do {
      let found = try FileStatus.of(folders[index].path, following: true)?.directory
      if found == root { return }
      if let mount = folders[index].mount, try !MountPoint.isMounted(mount) {
        return lose(index, .unmounted)
      }
      lose(index, found == nil ? .missing : .replaced)
    } catch {
      lose(index, .unreadable(error))
    }
  }

  // MARK: Below the root

  /// A watched directory below the root was unmounted.
  func unmounted(_ watch: CInt, _ entry: WatchedDirectories.Entry) {
    // All directories of the file system are told of; only the mount point itself counts.
    guard let parent = directories[entry.parent], parent.device != entry.device,
      let path = path(of: watch)
    else { return }
    noteAway(path, entry.folder)
    publish(entry.folder)
  }

  /// The file system at a place below the root is away: what is in it is offline, not gone.
  func noteAway(_ path: BytePath, _ index: Int) {
    folders[index].mounts.insert(path)
    if folders[index].status.away.insert(path).inserted {
      folders[index].status.note(.unmounted, "what was mounted at \(path.displayText) is away")
    }
    guard folders[index].away.insert(path).inserted else { return }
    inbox.putAway(directory: path)
    logger.warning(
      "a file system below a drop folder is away",
      [.folder: folders[index].path.displayText, .path: path.displayText]
    )
  }
}

extension FileStatus {
  /// What tells a directory apart.
  var directory: WatchedFolder.Identity {
    WatchedFolder.Identity(device: device, inode: inode)
  }
}
