import Glibc
import HandoffCore
import HandoffLog
import LinuxSystem
import Paths

/// Listing folders, and directories that an event was about.
extension WatchTree {
  /// A directory that is being listed.
  struct Place {
    let folder: Int
    /// 0 where it is not watched: what is below it is not watched either.
    let watch: CInt
    /// Why it is not, if the rest of the folder is.
    let uncovered: Uncovered?
    let path: BytePath
    let file: FileDescriptor
    let device: UInt64
    let depth: Int
    /// It came with a directory that was moved, so a rename gave its files their paths.
    let isMovedIn: Bool
  }

  /// Each level holds a descriptor open while it is listed.
  private static let depthLimit = 200

  // MARK: A whole folder

  /// Lists a whole folder: a round.
  ///
  /// Directories without a watch are watched, if they can be.
  func list(_ index: Int) {
    guard folders[index].root != nil else { return open(index) }
    let clock = ContinuousClock()
    let start = clock.now
    folders[index].round += 1
    let round = folders[index].round
    folders[index].listing = WatchedFolder.Listing()
    do {
      let file = try FileDescriptor.open(folders[index].path, O_RDONLY | O_DIRECTORY)
      let found = try file.status()
      guard found.directory == folders[index].root else { return checkRoot(index) }
      let uncovered = try coverRoot(index, file, found)
      list(
        Place(
          folder: index,
          watch: folders[index].watch ?? 0,
          uncovered: uncovered,
          path: folders[index].path,
          file: file,
          device: found.device,
          depth: 0,
          isMovedIn: false
        )
      )
    } catch {
      checkRoot(index)
      if folders[index].root != nil { skip(index, folders[index].path, error) }
    }
    // The root was lost meanwhile, and perhaps found and listed again.
    guard folders[index].root != nil, folders[index].round == round else { return }
    finish(index, begun: start)
  }

  private func finish(_ index: Int, begun: ContinuousClock.Instant) {
    let listing = folders[index].listing
    let away = folders[index].status.away
    folders[index].away.formIntersection(away)
    folders[index].mounts = listing.mounts.union(away)
    folders[index].told = listing.failed
    folders[index].status.listingTime = begun.duration(to: .now)
    let round = EventInbox.Round(
      number: folders[index].round,
      unlisted: listing.unlisted.union(away),
      begun: begun,
      isPolled: folders[index].status.needsPolling
    )
    inbox.putCompleted(folder: index, round)
    tellCoverage(index)
    publish(index)
  }

  /// Says in the log when another thing has become wrong, and when nothing is any more.
  private func tellCoverage(_ index: Int) {
    let status = folders[index].status
    let troubles = status.troubles
    guard troubles != folders[index].toldTroubles else { return }
    folders[index].toldTroubles = troubles
    let folder = folders[index].path.displayText
    if let degraded = status.degraded {
      logger.warning(
        "a drop folder is not covered by events",
        [.folder: folder, .reason: degraded]
      )
    } else {
      logger.notice("a drop folder is covered by events again", [.folder: folder])
    }
  }

  // MARK: One directory

  private func list(_ place: Place) {
    if let uncovered = place.uncovered {
      folders[place.folder].status.note(uncovered.gap, uncovered.detail)
    }
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
      put(
        path,
        place.folder,
        place.isMovedIn ? .renamed(closedSince: false) : .listed(status.identity)
      )
    } catch {
      skip(place.folder, path, error)
    }
  }

  /// Watches and lists a directory that an event was about.
  func enter(
    _ name: BytePath,
    of watch: CInt,
    _ entry: WatchedDirectories.Entry,
    isMovedIn: Bool = false
  ) {
    guard let path = path(of: watch), let relative = directories.relativePath(watch) else { return }
    do {
      let root = try FileDescriptor.open(folders[entry.folder].path, O_RDONLY | O_DIRECTORY)
      let file =
        relative.isEmpty
        ? root : try FileDescriptor.openBeneath(relative, O_RDONLY | O_DIRECTORY, in: root)
      // Another directory has taken the path: the event that says so is in the queue.
      guard try file.status().directory == entry.identity else { return }
      let place = Place(
        folder: entry.folder,
        watch: watch,
        uncovered: nil,
        path: path,
        file: file,
        device: entry.device,
        depth: relative.components.count,
        isMovedIn: isMovedIn
      )
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
      && folders[folder].names.reason(forFolder: name) == nil
  }

  private func enter(_ name: BytePath, _ path: BytePath, in place: Place) {
    guard isEntered(name, path, folder: place.folder) else { return }
    guard place.depth < Self.depthLimit else {
      return skip(place.folder, path, SystemError(ENAMETOOLONG, "open", path))
    }
    do {
      let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
      let file = try FileDescriptor.open(name, flags, in: place.file)
      let found = try file.status()
      guard !isRoot(found.directory) else { return }
      noteMount(path, isMount: found.device != place.device, place.folder)
      let (watch, uncovered) = try cover(name, path, file, found, in: place)
      let inner = Place(
        folder: place.folder,
        watch: watch,
        uncovered: uncovered,
        path: path,
        file: file,
        device: found.device,
        depth: place.depth + 1,
        isMovedIn: place.isMovedIn
      )
      list(inner)
    } catch  where [ENOENT, ENOTDIR, ELOOP].contains(error.errno) {
      // It is gone, or no directory any more: the event that says so is in the queue.
      return
    } catch {
      skip(place.folder, path, SystemError(error.errno, error.operation, path))
    }
  }

  /// The directory is a drop folder's own root, reached by another way, such as a bind mount.
  private func isRoot(_ found: WatchedFolder.Identity) -> Bool {
    guard let owner = folders.firstIndex(where: { $0.root == found }) else { return false }
    // Unless that folder has just been moved here.
    checkRoot(owner)
    return folders[owner].root == found
  }

  private func noteMount(_ path: BytePath, isMount: Bool, _ folder: Int) {
    if isMount {
      folders[folder].mounts.insert(path)
      folders[folder].listing.mounts.insert(path)
    } else if folders[folder].mounts.contains(path) {
      noteAway(path, folder)
    }
  }

  /// Something could not be watched or listed: it is said, and tried again with the next round.
  func skip(_ folder: Int, _ path: BytePath, _ error: SystemError) {
    folders[folder].listing.unlisted.insert(path)
    if [ENOENT, ENOTDIR].contains(error.errno) { return }
    // A round that is under way tells of it at its end, but a package that has come by an event may be
    // whole before the next round.
    inbox.putUnlisted(path, folder: folder)
    // Looked up only where it is said.
    func reason() -> String { AccessRefusal.text(error, path) }
    folders[folder].status.note(.failed, reason())
    folders[folder].listing.failed.insert(path)
    guard folders[folder].told.insert(path).inserted else { return }
    logger.warning("a folder is not covered", [.path: path.displayText, .error: reason()])
  }
}
