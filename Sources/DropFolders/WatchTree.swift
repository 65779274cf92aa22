import CInotifyTools
import Glibc
import HandoffCore
import HandoffLog
import LinuxSystem
import Paths

/// Keeps every directory of the drop folders watched, and puts what happens in them into the inbox.
///
/// It belongs to the watch thread. A new directory is watched first and listed second, so that nothing
/// falls between. A renamed directory keeps its watches; one that was moved away loses them once the
/// queue shows that it has not come back under another name.
final class WatchTree {
  let tools: InotifyTools
  let control: ControlFolder
  let inbox: EventInbox
  let logger: Logger
  var folders: [WatchedFolder]
  var directories = WatchedDirectories()
  /// Roots of folders: never looked into as part of another folder, for the deepest one decides.
  let roots: Set<BytePath>
  /// Directories that were moved away, by the rename's cookie, until the other half has come.
  private var moved: [UInt32: CInt] = [:]
  /// Directories that lost their place, until a wake shows that no other half comes.
  var detached: Set<CInt> = []
  private(set) var controlWatch: CInt = 0
  /// What is listed now came with a directory that was moved, so a rename gave it its path.
  private(set) var isMovedIn = false

  static let mask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB
      | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK
  )

  /// How many entries of dead directories the library may keep before it is opened anew: 4 MB.
  static let deadEntryLimit = 16_384

  init(
    folders: [DropFolderSettings],
    control: ControlFolder,
    inbox: EventInbox,
    logger: Logger
  ) throws(SystemError) {
    self.tools = try InotifyTools()
    self.control = control
    self.inbox = inbox
    self.logger = logger
    self.folders = folders.map { WatchedFolder($0) }
    self.roots = Set(folders.map(\.path))
  }

  // MARK: The instance

  /// Watches everything, on a new instance: at start, after an overflow, and when the library's table
  /// has grown.
  func watchEverything(isFirst: Bool) throws(SystemError) {
    if !isFirst { try reopen() }
    directories.forgetAll()
    moved = [:]
    detached = []
    try watchControl()
    // The library's buffer may hold events of the old instance, whose numbers mean others now.
    if !isFirst { try discardEvents(upTo: control.wake()) }
    for index in folders.indices {
      let wasThere = folders[index].root != nil
      folders[index].root = nil
      folders[index].watch = nil
      open(index)
      if wasThere, folders[index].root == nil {
        inbox.putLost(folder: index, folders[index].status)
      }
    }
  }

  /// Another program of this user may have taken the instance that was just given back: it is waited
  /// for a little, which only this thread does.
  private func reopen() throws(SystemError) {
    for _ in 0..<20 {
      do {
        return try tools.reopen()
      } catch  where error.errno == EMFILE {
        usleep(100_000)
      }
    }
    try tools.reopen()
  }

  func watchControl() throws(SystemError) {
    try control.prepare()
    let mask = UInt32(IN_CREATE | IN_ATTRIB | IN_DELETE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)
    controlWatch = try tools.watch(control.path, for: mask)
  }

  private func discardEvents(upTo mark: BytePath) throws(SystemError) {
    while try tools.next().name != mark {}
  }

  // MARK: Events

  func handle(_ event: InotifyTools.Event) {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return inbox.putOverflow() }
    guard let entry = directories[event.watch] else { return }
    if event.mask & UInt32(IN_IGNORED) != 0 { return end(event.watch, entry) }
    if entry.parent == 0, let reason = Self.loss(event.mask) {
      let isUnmount = event.mask & UInt32(IN_UNMOUNT) != 0
      folders[entry.folder].wasUnmounted = isUnmount
      lose(entry.folder, reason, removing: event.mask & UInt32(IN_MOVE_SELF) != 0)
      return open(entry.folder)
    }
    guard !event.name.isEmpty else { return }
    if event.mask & UInt32(IN_ISDIR) != 0 {
      handleDirectory(event, entry)
    } else if let path = path(of: event.watch), let observation = Self.observation(event.mask) {
      let folder = folders[entry.folder]
      inbox.put(path.appending(event.name), entry.folder, observation, round: folder.round)
    }
  }

  private static func loss(_ mask: UInt32) -> String? {
    if mask & UInt32(IN_UNMOUNT) != 0 { return "its file system was unmounted" }
    if mask & UInt32(IN_DELETE_SELF) != 0 { return "the folder was deleted" }
    if mask & UInt32(IN_MOVE_SELF) != 0 { return "the folder was moved away" }
    return nil
  }

  /// `IN_MODIFY` is not asked for: a writer that never stops would flood the queue, and the lease
  /// proves that nobody writes, which no absence of events can.
  private static func observation(_ mask: UInt32) -> CandidateObservation? {
    if mask & UInt32(IN_MOVED_TO) != 0 { return .renamed(closedSince: false) }
    if mask & UInt32(IN_CLOSE_WRITE) != 0 { return .changed(closed: true) }
    if mask & UInt32(IN_CREATE) != 0 { return .changed(closed: false) }
    if mask & UInt32(IN_DELETE | IN_MOVED_FROM) != 0 { return .vanished }
    if mask & UInt32(IN_ATTRIB) != 0 { return .attributes }
    return nil
  }

  private func handleDirectory(_ event: InotifyTools.Event, _ entry: WatchedDirectories.Entry) {
    if event.mask & UInt32(IN_MOVED_FROM) != 0 {
      depart(event, entry)
    } else if event.mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0 {
      arrive(event, entry)
    } else if event.mask & UInt32(IN_ATTRIB) != 0, entry.children[event.name] == nil {
      // It could not be read before; perhaps it can now.
      enter(event.name, of: event.watch, entry)
    }
    publish(entry.folder)
  }

  private func depart(_ event: InotifyTools.Event, _ entry: WatchedDirectories.Entry) {
    guard let path = path(of: event.watch)?.appending(event.name), !roots.contains(path) else {
      return
    }
    inbox.putVanished(directory: path)
    guard let watch = entry.children[event.name] else { return }
    directories.detach(watch)
    detached.insert(watch)
    moved[event.cookie] = watch
    // The other half of the rename, if it comes at all, comes before this wake.
    control.wake()
  }

  private func arrive(_ event: InotifyTools.Event, _ entry: WatchedDirectories.Entry) {
    if let watch = moved.removeValue(forKey: event.cookie),
      directories[watch]?.folder == entry.folder, directories.isDetached(watch),
      isEntered(event.name, of: event.watch, entry)
    {
      if let replaced = entry.children[event.name] { detach(replaced) }
      directories.attach(watch, to: event.watch, as: event.name)
      detached.remove(watch)
    }
    isMovedIn = event.mask & UInt32(IN_MOVED_TO) != 0
    defer { isMovedIn = false }
    enter(event.name, of: event.watch, entry)
  }

  /// A wake has come: what lost its place before it has not come back.
  func settleMoves() {
    moved = [:]
    let gone = detached.filter { directories.isDetached($0) }
    detached = []
    let concerned = Set(gone.compactMap { directories[$0]?.folder })
    for watch in gone { removeTree(watch) }
    for folder in concerned { publish(folder) }
  }

  func detach(_ watch: CInt) {
    directories.detach(watch)
    detached.insert(watch)
    control.wake()
  }

  private func removeTree(_ watch: CInt) {
    for ended in directories.forgetTree(watch) { tools.remove(ended) }
  }

  /// The kernel has ended a watch: its directory is deleted or unmounted.
  private func end(_ watch: CInt, _ entry: WatchedDirectories.Entry) {
    tools.noteDeadEntry()
    directories.forget(watch)
    if entry.parent == 0, folders[entry.folder].watch == watch {
      lose(entry.folder, "its watch has ended", removing: false)
      open(entry.folder)
    } else {
      publish(entry.folder)
    }
  }

  // MARK: Roots

  /// The folder's root is no longer where it was.
  ///
  /// - Parameters:
  ///   - index: the folder.
  ///   - reason: one sentence.
  ///   - isRemoving: its watches live on elsewhere and have to be ended.
  func lose(_ index: Int, _ reason: String, removing isRemoving: Bool) {
    guard folders[index].root != nil else { return }
    logger.warning(
      "a drop folder is lost",
      [.folder: folders[index].path.displayText, .reason: reason]
    )
    if let watch = folders[index].watch {
      let forgotten = directories.forgetTree(watch)
      for watch in forgotten {
        if isRemoving { tools.remove(watch) } else { tools.noteDeadEntry() }
      }
    }
    folders[index].root = nil
    folders[index].watch = nil
    folders[index].status = FolderStatus(mode: .offline, problem: reason)
    inbox.putLost(folder: index, folders[index].status)
  }

  /// Looks whether each root is still the one that is watched, and for those that are away.
  func checkRoots() {
    for index in folders.indices {
      if let root = folders[index].root {
        let status = statusOfRoot(index)
        if status?.device == root.device, status?.inode == root.inode { continue }
        lose(index, "another folder is in its place", removing: true)
      }
      open(index)
    }
  }

  private func statusOfRoot(_ index: Int) -> FileStatus? {
    do {
      return try FileStatus.of(folders[index].path, following: true)
    } catch {
      logger.warning(
        "a drop folder cannot be looked at",
        [.folder: folders[index].path.displayText, .error: "\(error)"]
      )
      return nil
    }
  }

  // MARK: Paths

  /// The absolute path of a watched directory; nil if it has lost its place.
  func path(of watch: CInt) -> BytePath? {
    guard let folder = directories[watch]?.folder,
      let relative = directories.relativePath(watch)
    else { return nil }
    return folders[folder].path.appending(relative)
  }

  func publish(_ index: Int) {
    folders[index].status.watches = directories.count(folder: index)
    inbox.put(folders[index].status, index)
  }
}
