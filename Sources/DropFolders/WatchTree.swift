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
/// queue shows that it has not come back under another name. What cannot be watched is polled.
final class WatchTree {
  /// Nil while no inotify instance can be had: then everything is polled.
  private(set) var tools: InotifyTools?
  /// Why there is none.
  private(set) var shortage: String?
  let control: ControlFolder
  let inbox: EventInbox
  let logger: Logger
  var folders: [WatchedFolder]
  var directories = WatchedDirectories()
  /// Roots of folders: never looked into as part of another folder, for the deepest one decides.
  let roots: Set<BytePath>
  /// Directories that were moved away, by the rename's cookie, until the other half has come.
  var moved: [UInt32: CInt] = [:]
  /// The places that they have left.
  var departed: Set<Departure> = []
  /// Directories that lost their place, until a wake shows that no other half comes.
  var detached: Set<CInt> = []
  private var controlWatch: CInt = 0

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
  ) {
    self.control = control
    self.inbox = inbox
    self.logger = logger
    self.folders = folders.map { WatchedFolder($0) }
    self.roots = Set(folders.map(\.path))
  }

  // MARK: The instance

  /// The library's table holds more dead entries than living ones.
  var isCrowded: Bool {
    guard let tools else { return false }
    return tools.deadEntries > max(Self.deadEntryLimit, directories.count)
  }

  /// Watches everything, on a new instance: at start, after an overflow, and when the library's table
  /// has grown.
  func watchEverything() {
    watchEverything { () throws(SystemError) in try openInstance() }
  }

  private func watchEverything(opening open: () throws(SystemError) -> Void) {
    forgetWatches()
    do {
      try open()
      shortage = nil
    } catch {
      giveUpEvents(error)
    }
    for index in folders.indices {
      let wasThere = folders[index].root != nil
      folders[index].root = nil
      self.open(index)
      if wasThere, folders[index].root == nil {
        inbox.putLost(folder: index, folders[index].status)
      }
    }
  }

  /// Tries again to get an instance; false if there still is none, or was one already.
  func regainEvents() -> Bool {
    guard tools == nil else { return false }
    do {
      tools = try InotifyTools()
    } catch {
      shortage = WatchLimits.explanation(of: error)
      return false
    }
    logger.notice("an inotify instance was got: drop folders are watched by events again")
    // The new instance is empty, and scarce: it is not given back to be opened once more.
    watchEverything { () throws(SystemError) in try watchControl() }
    return tools != nil
  }

  private func openInstance() throws(SystemError) {
    guard let tools else {
      tools = try InotifyTools()
      return try watchControl()
    }
    try reopen(tools)
    try watchControl()
    // The library's buffer may hold events of the old instance, whose numbers mean others now.
    let mark = control.wake()
    while try tools.next().name != mark {}
  }

  /// Another program of this user may have taken the instance that was just given back: it is waited
  /// for a little, which only this thread does.
  private func reopen(_ tools: InotifyTools) throws(SystemError) {
    for _ in 0..<20 {
      do {
        return try tools.reopen()
      } catch  where error.errno == EMFILE {
        usleep(100_000)
      }
    }
    try tools.reopen()
  }

  private func watchControl() throws(SystemError) {
    guard let tools else { return }
    try control.prepare()
    let mask = UInt32(IN_CREATE | IN_ATTRIB | IN_DELETE_SELF | IN_ONLYDIR)
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
    let folder = try FileDescriptor.open(control.path, flags)
    controlWatch = try tools.watch(folder, at: control.path, for: mask)
  }

  /// No events can be had: everything is polled until the next try.
  private func giveUpEvents(_ error: SystemError) {
    tools = nil
    forgetWatches()
    let reason = WatchLimits.explanation(of: error)
    if shortage == nil {
      logger.warning("events cannot be had: all drop folders are polled", [.reason: reason])
    }
    shortage = reason
  }

  private func forgetWatches() {
    directories.forgetAll()
    moved = [:]
    departed = []
    detached = []
    for index in folders.indices { folders[index].watch = nil }
  }

  // MARK: Events

  /// Waits for the next event and does what follows from it.
  func handleNextEvent() {
    guard let tools else { return }
    do {
      let event = try tools.next()
      guard event.watch == controlWatch else { return handle(event) }
      // Somebody has removed the control folder: it is made anew.
      if event.mask & UInt32(IN_IGNORED) != 0 { try watchControl() }
      settleMoves()
    } catch {
      giveUpEvents(error)
      for index in folders.indices { list(index) }
    }
  }

  private func handle(_ event: InotifyTools.Event) {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return inbox.putOverflow() }
    guard let entry = directories[event.watch] else { return }
    if event.mask & UInt32(IN_IGNORED) != 0 { return end(event.watch, entry) }
    if entry.parent == 0, let loss = Loss(event.mask) { return lose(entry.folder, loss) }
    if event.mask & UInt32(IN_UNMOUNT) != 0 { return unmounted(event.watch, entry) }
    guard !event.name.isEmpty else { return }
    if event.mask & UInt32(IN_ISDIR) != 0 {
      handleDirectory(event, entry)
    } else if let path = path(of: event.watch)?.appending(event.name) {
      guard let observation = observation(event.mask, path) else { return }
      inbox.put(path, entry.folder, observation, round: folders[entry.folder].round)
    }
  }

  /// `IN_MODIFY` is not asked for: a writer that never stops would flood the queue, and the lease
  /// proves that nobody writes, which no absence of events can.
  private func observation(_ mask: UInt32, _ path: BytePath) -> CandidateObservation? {
    if mask & UInt32(IN_MOVED_TO) != 0 { return .renamed(closedSince: false) }
    if mask & UInt32(IN_CLOSE_WRITE) != 0 { return .changed(closed: true) }
    if mask & UInt32(IN_CREATE) != 0 { return .changed(closed: false) }
    if mask & UInt32(IN_MOVED_FROM) != 0 {
      // Two files may have been exchanged, renameat2(2): the event that the name is taken again has
      // come before this one. But it proves no rename: somebody may be writing a new file of the name.
      return isFile(path) ? .attributes : .vanished
    }
    if mask & UInt32(IN_DELETE) != 0 { return .vanished }
    if mask & UInt32(IN_ATTRIB) != 0 { return .attributes }
    return nil
  }

  private func isFile(_ path: BytePath) -> Bool {
    do {
      return try FileStatus.of(path)?.kind == .regular
    } catch {
      // It cannot be looked at: the look at the candidate says why.
      return true
    }
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

  /// The kernel has ended a watch: its directory is deleted or unmounted.
  private func end(_ watch: CInt, _ entry: WatchedDirectories.Entry) {
    tools?.noteDeadEntry()
    directories.forget(watch)
    if entry.parent == 0, folders[entry.folder].watch == watch {
      lose(entry.folder, .watchEnded)
    } else {
      publish(entry.folder)
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
