import CInotifyTools
import Glibc
import HandoffCore
import Paths

/// Directories that are renamed, moved in and moved away.
///
/// The kernel tells a rename as two events with one cookie, which other events may come between.
extension WatchTree {
  /// A place that a directory has left.
  struct Departure: Hashable {
    let parent: CInt
    let name: BytePath
  }

  func depart(_ event: InotifyTools.Event, _ entry: WatchedDirectories.Entry) {
    guard let path = path(of: event.watch)?.appending(event.name), !roots.contains(path) else {
      return
    }
    inbox.putVanished(directory: path)
    departed.insert(Departure(parent: event.watch, name: event.name))
    if let watch = entry.children[event.name] {
      directories.detach(watch)
      detached.insert(watch)
      moved[event.cookie] = watch
    }
    // The other half of the rename, if it comes at all, comes before this wake.
    control.wake()
    // A nested drop folder that went with it: no event of its own tells so.
    for index in folders.indices where folders[index].path.isInside(path) { checkRoot(index) }
  }

  func arrive(_ event: InotifyTools.Event, _ entry: WatchedDirectories.Entry) {
    if let watch = moved.removeValue(forKey: event.cookie),
      directories[watch]?.folder == entry.folder, directories.isDetached(watch),
      isEntered(event.name, of: event.watch, entry)
    {
      if let replaced = entry.children[event.name] { detach(replaced) }
      directories.attach(watch, to: event.watch, as: event.name)
      detached.remove(watch)
    }
    let isMovedIn = event.mask & UInt32(IN_MOVED_TO) != 0
    enter(event.name, of: event.watch, entry, isMovedIn: isMovedIn)
    guard let path = path(of: event.watch)?.appending(event.name) else { return }
    // A nested drop folder that came with it.
    for index in folders.indices where folders[index].path.isInside(path) { open(index) }
  }

  /// A wake has come: what lost its place before it has not come back.
  func settleMoves() {
    moved = [:]
    let gone = detached.filter { directories.isDetached($0) }
    detached = []
    var concerned = Set(gone.compactMap { directories[$0]?.folder })
    for watch in gone { removeTree(watch) }
    // Another directory may have taken the place before the departure was told: two that were
    // exchanged, renameat2(2), are told so.
    for departure in departed {
      guard let entry = directories[departure.parent] else { continue }
      concerned.insert(entry.folder)
      enter(departure.name, of: departure.parent, entry)
    }
    departed = []
    for folder in concerned { publish(folder) }
  }

  func detach(_ watch: CInt) {
    directories.detach(watch)
    detached.insert(watch)
    control.wake()
  }

  private func removeTree(_ watch: CInt) {
    for ended in directories.forgetTree(watch) { tools?.remove(ended) }
  }
}
