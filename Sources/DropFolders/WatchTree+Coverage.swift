import Glibc
import HandoffCore
import LinuxSystem
import Paths

/// Which directories are watched by events, and why the others are polled.
extension WatchTree {
  /// Why a directory is not watched while its folder's root is, or would be.
  struct Uncovered {
    let gap: FolderStatus.Gap
    let detail: String
  }

  /// Decides how a folder is watched, and watches its root if it is to be and is not yet.
  func coverRoot(
    _ index: Int,
    _ file: FileDescriptor,
    _ found: FileStatus
  ) throws(SystemError) -> Uncovered? {
    let wanted = folders[index].settings.watch
    let network = try file.fileSystem().networkName
    switch (wanted, network) {
    case (.poll, _):
      folders[index].status = FolderStatus(mode: .poll)
      return nil
    case (.auto, let name?):
      let problem = "polled: it is on \(name), whose events tell only what happens on this host"
      folders[index].status = FolderStatus(mode: .poll, problem: problem)
      return nil
    case (.events, let name?):
      let problem =
        "it is on \(name), whose events tell only what happens on this host: with "
        + "watch = \"events\" everything else is found only by the listing every ten minutes"
      folders[index].status = FolderStatus(mode: .events, problem: problem)
    case (.auto, nil), (.events, nil):
      folders[index].status = FolderStatus(mode: .events)
    }
    return try watchRoot(index, file, found)
  }

  private func watchRoot(
    _ index: Int,
    _ file: FileDescriptor,
    _ found: FileStatus
  ) throws(SystemError) -> Uncovered? {
    guard folders[index].watch == nil else { return nil }
    guard let tools else {
      folders[index].status.mode = .poll
      folders[index].status.lacksInstance = true
      folders[index].status.problem = "polled: \(shortage ?? "there is no inotify instance")"
      return nil
    }
    do {
      let watch = try tools.watch(file, at: folders[index].path, for: Self.mask)
      let entry = WatchedDirectories.Entry(
        folder: index,
        parent: 0,
        name: "",
        device: found.device,
        inode: found.inode
      )
      place(watch, entry)
      folders[index].watch = watch
      return nil
    } catch  where error.errno == ENOSPC {
      folders[index].status.mode = .poll
      return Uncovered(gap: .limit, detail: WatchLimits.explanation(of: error))
    }
  }

  /// Watches one directory unless it is watched or its folder is polled: the watch, or 0 and the reason.
  func cover(
    _ name: BytePath,
    _ path: BytePath,
    _ file: FileDescriptor,
    _ found: FileStatus,
    in parent: Place
  ) throws(SystemError) -> (CInt, Uncovered?) {
    guard parent.watch != 0, let tools else { return (0, parent.uncovered) }
    if found.device != parent.device, folders[parent.folder].settings.watch == .auto,
      let network = try file.fileSystem().networkName
    {
      let detail = "\(path.displayText) is on \(network), whose events tell only what happens here"
      return (0, Uncovered(gap: .network, detail: detail))
    }
    if let known = directories[parent.watch]?.children[name],
      directories[known]?.identity == found.directory
    {
      return (known, nil)
    }
    do {
      let watch = try tools.watch(file, at: path, for: Self.mask)
      let entry = WatchedDirectories.Entry(
        folder: parent.folder,
        parent: parent.watch,
        name: name,
        device: found.device,
        inode: found.inode
      )
      place(watch, entry)
      return (watch, nil)
    } catch  where error.errno == ENOSPC {
      return (0, Uncovered(gap: .limit, detail: WatchLimits.explanation(of: error)))
    }
  }

  /// Gives a watch its place in the map.
  private func place(_ watch: CInt, _ entry: WatchedDirectories.Entry) {
    // A watch that the map has elsewhere: the same directory, whose rename is still in the queue.
    let former = directories[watch]?.folder
    for _ in directories.forgetTree(watch) { tools?.noteDeadEntry() }
    if let replaced = directories.insert(entry, watch) { detach(replaced) }
    if let former, former != entry.folder { publish(former) }
  }
}
