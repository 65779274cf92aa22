import CInotifyTools
import Glibc
import HandoffCore
import HandoffLog
import LinuxSystem
import Paths

/// Watching first and listing second.
extension WatchTree {
  /// A directory that is being listed.
  private struct Place {
    let folder: Int
    /// 0 where it could not be watched: what is below it is not watched either.
    let watch: CInt
    let path: BytePath
    let file: FileDescriptor
    let depth: Int
  }

  /// Each level holds a descriptor open while it is listed.
  private static let depthLimit = 200

  /// Watches and lists a folder from its root, if it is there.
  func open(_ index: Int) {
    guard folders[index].root == nil else { return }
    do {
      try openRoot(index)
    } catch {
      folders[index].status = FolderStatus(mode: .offline, problem: "\(error)")
      inbox.put(folders[index].status, index)
      return
    }
    list(index)
  }

  private func openRoot(_ index: Int) throws(SystemError) {
    let path = folders[index].path
    if folders[index].wasUnmounted, try !isMounted(path) {
      throw SystemError(ENODEV, "the drop folder's file system is not mounted", path)
    }
    var status = FolderStatus(mode: .events)
    var watch: CInt?
    do {
      // The root alone may be a symbolic link: whoever configured it chose so.
      watch = try tools.watch(path, for: Self.mask)
    } catch  where error.errno == ENOSPC {
      status = FolderStatus(mode: .poll, problem: WatchLimits.explanation(of: error))
    }
    let root = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
    if try root.fileSystem().isNetwork {
      if let watch { tools.remove(watch) }
      watch = nil
      let problem = "on a network file system, whose events tell only what happens here: polled"
      status = FolderStatus(mode: .poll, problem: problem)
    }
    let found = try root.status()
    folders[index].root = (found.device, found.inode)
    folders[index].watch = watch
    folders[index].status = status
    folders[index].wasUnmounted = false
    guard let watch else { return }
    let entry = WatchedDirectories.Entry(
      folder: index,
      parent: 0,
      name: "",
      device: found.device,
      inode: found.inode
    )
    _ = directories.insert(entry, watch)
  }

  private func isMounted(_ path: BytePath) throws(SystemError) -> Bool {
    let inner = try FileStatus.of(path, following: true)
    let outer = try FileStatus.of(path.appending(".."), following: true)
    return inner?.device != outer?.device
  }

  /// Lists a whole folder: a round.
  ///
  /// Directories without a watch are watched.
  func list(_ index: Int) {
    guard folders[index].root != nil else { return open(index) }
    folders[index].round += 1
    folders[index].isListingComplete = true
    folders[index].status.uncovered = 0
    // A polled folder keeps the reason why it is.
    if folders[index].watch != nil { folders[index].status.problem = nil }
    let path = folders[index].path
    do {
      let file = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
      let watch = folders[index].watch ?? 0
      list(Place(folder: index, watch: watch, path: path, file: file, depth: 0))
    } catch {
      skip(index, path, error)
    }
    if folders[index].isListingComplete {
      inbox.putCompleted(folder: index, round: folders[index].round)
    }
    publish(index)
  }

  private func list(_ place: Place) {
    let entries: [Directory.Entry]
    do {
      entries = try Directory.entries(of: place.file, place.path)
    } catch {
      return skip(place.folder, place.path, error)
    }
    for entry in entries {
      let path = place.path.appending(entry.name)
      switch entry.kind {
      case .regular:
        note(entry.name, path, in: place)
      case .directory:
        enter(entry.name, path, in: place)
      case .symbolicLink:
        put(path, place.folder, .irregular("a symbolic link, which is never followed"))
      case .other:
        put(path, place.folder, .irregular("not a regular file"))
      }
    }
  }

  private func put(_ path: BytePath, _ folder: Int, _ observation: CandidateObservation) {
    inbox.put(path, folder, observation, round: folders[folder].round)
  }

  private func note(_ name: BytePath, _ path: BytePath, in place: Place) {
    do {
      guard let status = try FileStatus.of(name, in: place.file) else { return }
      guard status.kind == .regular else { return }
      let isRenamed = isMovedIn
      put(path, place.folder, isRenamed ? .renamed(closedSince: false) : .listed(status.identity))
    } catch {
      skip(place.folder, path, error)
    }
  }

  /// Watches and lists a directory that an event was about.
  func enter(_ name: BytePath, of watch: CInt, _ entry: WatchedDirectories.Entry) {
    guard let path = path(of: watch), let relative = directories.relativePath(watch) else { return }
    let folder = folders[entry.folder]
    do {
      let root = try FileDescriptor.open(folder.path, O_RDONLY | O_DIRECTORY)
      let file =
        relative.isEmpty
        ? root : try FileDescriptor.openBeneath(relative, O_RDONLY | O_DIRECTORY, in: root)
      let depth = relative.components.count
      let place = Place(folder: entry.folder, watch: watch, path: path, file: file, depth: depth)
      enter(name, path.appending(name), in: place)
    } catch {
      skip(entry.folder, path, error)
    }
  }

  /// A directory of this name belongs to the folder.
  func isEntered(_ name: BytePath, of watch: CInt, _ entry: WatchedDirectories.Entry) -> Bool {
    guard let path = path(of: watch)?.appending(name) else { return false }
    return isEntered(name, path, folder: entry.folder)
  }

  private func isEntered(_ name: BytePath, _ path: BytePath, folder: Int) -> Bool {
    folders[folder].settings.recursive && !roots.contains(path)
      && TemporaryNames.reason(forFolder: name, patterns: folders[folder].ignore) == nil
  }

  private func enter(_ name: BytePath, _ path: BytePath, in place: Place) {
    guard isEntered(name, path, folder: place.folder) else { return }
    guard place.depth < Self.depthLimit else {
      return skip(place.folder, path, SystemError(ENAMETOOLONG, "open", path))
    }
    do {
      let watch = try place.watch == 0 ? 0 : watchDirectory(name, path, in: place)
      let file = try FileDescriptor.open(
        name,
        O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
        in: place.file
      )
      if watch != 0 { try assign(watch, name, file, in: place) }
      let depth = place.depth + 1
      list(Place(folder: place.folder, watch: watch, path: path, file: file, depth: depth))
    } catch  where [ENOENT, ENOTDIR, ELOOP].contains(error.errno) {
      // It is gone, or no directory any more: the event that says so is in the queue.
      return
    } catch {
      skip(place.folder, path, error)
    }
  }

  /// Watches one directory unless it is watched; 0 at the watch limit.
  private func watchDirectory(
    _ name: BytePath,
    _ path: BytePath,
    in place: Place
  ) throws(SystemError) -> CInt {
    if let known = directories[place.watch]?.children[name], let entry = directories[known],
      let status = try FileStatus.of(name, in: place.file), status.device == entry.device,
      status.inode == entry.inode
    {
      return known
    }
    do {
      return try tools.watch(path, for: Self.mask | UInt32(IN_DONT_FOLLOW))
    } catch  where error.errno == ENOSPC {
      folders[place.folder].note(uncovered: WatchLimits.explanation(of: error))
      return 0
    }
  }

  /// Gives a watch its place in the map.
  private func assign(
    _ watch: CInt,
    _ name: BytePath,
    _ file: FileDescriptor,
    in place: Place
  ) throws(SystemError) {
    if let entry = directories[watch], entry.parent == place.watch, entry.name == name { return }
    let status = try file.status()
    // A watch that the map has elsewhere: the same directory, whose rename is still in the queue.
    let earlier = directories.forgetTree(watch)
    for _ in earlier { tools.noteDeadEntry() }
    let entry = WatchedDirectories.Entry(
      folder: place.folder,
      parent: place.watch,
      name: name,
      device: status.device,
      inode: status.inode
    )
    if let replaced = directories.insert(entry, watch) { detach(replaced) }
  }

  /// Something could not be watched or listed: it is said, and tried again with the next round.
  private func skip(_ folder: Int, _ path: BytePath, _ error: SystemError) {
    folders[folder].isListingComplete = false
    if [ENOENT, ENOTDIR].contains(error.errno) { return }
    let reason = AccessRefusal.text(error, path)
    folders[folder].note(uncovered: reason)
    logger.warning("a folder is not covered", [.path: path.displayText, .error: reason])
  }
}
