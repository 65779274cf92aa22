import Paths

/// Our own map from watch to path: each watch knows its parent's watch and its own name.
///
/// The library's and the kernel's numbers say nothing about where a directory is now; this does, because
/// a rename changes one entry and thereby all below it.
struct WatchedDirectories {
  struct Entry {
    let folder: Int
    /// 0 for a drop folder's root.
    var parent: CInt
    /// Empty for a root.
    var name: BytePath
    let device: UInt64
    let inode: UInt64
    var children: [BytePath: CInt] = [:]

    var identity: WatchedFolder.Identity {
      WatchedFolder.Identity(device: device, inode: inode)
    }
  }

  private var entries: [CInt: Entry] = [:]
  private var counts: [Int: Int] = [:]
  /// Relative paths that were asked for since the last change.
  private var paths: [CInt: BytePath] = [:]

  var count: Int { entries.count }

  subscript(watch: CInt) -> Entry? { entries[watch] }

  /// How many watches a folder has.
  func count(folder: Int) -> Int { counts[folder] ?? 0 }

  /// Puts a watch in its place; another one in the same place is detached, and given back.
  mutating func insert(_ entry: Entry, _ watch: CInt) -> CInt? {
    forget(watch)
    let replaced = entry.parent == 0 ? nil : entries[entry.parent]?.children[entry.name]
    if let replaced { detach(replaced) }
    entries[watch] = entry
    counts[entry.folder, default: 0] += 1
    if entry.parent != 0 { entries[entry.parent]?.children[entry.name] = watch }
    return replaced
  }

  /// Takes a watch out of its parent, but keeps it and what is below it.
  mutating func detach(_ watch: CInt) {
    guard let entry = entries[watch] else { return }
    if entries[entry.parent]?.children[entry.name] == watch {
      entries[entry.parent]?.children.removeValue(forKey: entry.name)
    }
    entries[watch]?.parent = Self.nowhere
    paths = [:]
  }

  /// The watch is in no place: its directory was moved away, or another one took its place.
  func isDetached(_ watch: CInt) -> Bool {
    entries[watch]?.parent == Self.nowhere
  }

  /// Gives a detached watch a new place.
  mutating func attach(_ watch: CInt, to parent: CInt, as name: BytePath) {
    entries[watch]?.parent = parent
    entries[watch]?.name = name
    entries[parent]?.children[name] = watch
  }

  /// Forgets one watch, not those below it.
  mutating func forget(_ watch: CInt) {
    guard let entry = entries[watch] else { return }
    detach(watch)
    entries.removeValue(forKey: watch)
    counts[entry.folder, default: 0] -= 1
  }

  /// Forgets a watch and all below it, and gives their numbers.
  mutating func forgetTree(_ watch: CInt) -> [CInt] {
    detach(watch)
    var forgotten: [CInt] = []
    var rest = [watch]
    while let next = rest.popLast() {
      guard let entry = entries.removeValue(forKey: next) else { continue }
      counts[entry.folder, default: 0] -= 1
      forgotten.append(next)
      rest += entry.children.values
    }
    return forgotten
  }

  mutating func forgetAll() {
    entries = [:]
    counts = [:]
    paths = [:]
  }

  /// The path from the folder's root down to the watch, empty for the root itself; nil if it is in no
  /// folder (any more).
  mutating func relativePath(_ watch: CInt) -> BytePath? {
    if let known = paths[watch] { return known }
    var names: [BytePath] = []
    var next = watch
    while let entry = entries[next] {
      if entry.parent == 0 {
        let path = BytePath(names.reversed().map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
        paths[watch] = path
        return path
      }
      names.append(entry.name)
      next = entry.parent
    }
    return nil
  }

  private static let nowhere: CInt = -1
}
