import HandoffTestSupport
import Paths

/// A disk that keeps only what it must.
///
/// That is bytes up to a file's last finished sync, and names up to their folder's. What came later is
/// pending, and a power cut may keep any of it.
struct DiskModel {
  /// A file or folder; a new one of the same inode number is another node.
  typealias Node = Int

  /// A change of a file's bytes.
  enum Change {
    case write(offset: Int, bytes: Range<Int>)
    case truncate(size: Int)
  }

  struct File {
    var isFolder: Bool
    var mode: UInt32
    /// What is certainly on the disk.
    var bytes: [UInt8] = []
    var pending: [Change] = []
    /// How many changes are on the disk, of all that there were.
    var settled = 0
    /// Names that the running system sees; without any, the inode number may come again.
    var links = 0
    var names: [BytePath: Node] = [:]
  }

  /// A change of names, whole or not at all; it is on the disk once its folder is.
  struct NameChange {
    var folder: Node
    var removed: [(folder: Node, name: BytePath, node: Node)] = []
    var added: [(folder: Node, name: BytePath, node: Node)] = []
  }

  private(set) var files: [File] = []
  private(set) var pendingNames: [NameChange] = []
  let root: Node = 0
  private let log: [UInt8]
  private var nodes: [UInt64: Node] = [:]
  /// How many name changes there were, and how much of what each wait waits for.
  private var nameCount = 0
  private var pendingNumbers: [Int] = []
  private var waits: [UInt64: (node: Node, changes: Int, names: Int)] = [:]

  /// - Parameters:
  ///   - log: the bytes that records' ranges lie in.
  ///   - root: the inode number of the folder that everything is in.
  init(log: [UInt8], root: UInt64) {
    self.log = log
    _ = node(root, isFolder: true)
    files[self.root].links = 1
  }

  /// Takes in what was there before, made by others: its name is on the disk, its bytes are pending.
  mutating func add(_ name: BytePath, to folder: UInt64, inode: UInt64, isFolder: Bool) {
    let made = fresh(inode, isFolder: isFolder, mode: isFolder ? 0o755 : 0o644)
    files[made].links = 1
    files[node(folder, isFolder: true)].names[name] = made
  }

  mutating func apply(_ record: WriteLog.Record) {
    switch record {
    case .create(let folder, let name, let inode, let mode):
      let made = fresh(inode, isFolder: false, mode: mode)
      add(name, made, in: node(folder, isFolder: true))
    case .makeFolder(let folder, let name, let inode, let mode):
      let made = fresh(inode, isFolder: true, mode: mode)
      add(name, made, in: node(folder, isFolder: true))
    case .write(let inode, let offset, let bytes):
      files[node(inode)].pending.append(.write(offset: offset, bytes: bytes))
    case .truncate(let inode, let size): files[node(inode)].pending.append(.truncate(size: size))
    case .base(let inode, let mode, let bytes): takeBase(inode, mode, bytes)
    case .mode(let inode, let mode): files[node(inode)].mode = mode
    case .link(let folder, let name, let inode):
      add(name, node(inode), in: node(folder, isFolder: true))
    case .unlink(let folder, let name, let inode):
      remove(name, node(inode), in: node(folder, isFolder: true))
    case .removeFolder(let folder, let name):
      let above = node(folder, isFolder: true)
      if let gone = seen(name, in: above) { remove(name, gone, in: above) }
    case .rename(let from, let to, let inode, let exchanges):
      rename(from, to, inode, exchanges)
    case .syncBegin(let inode, let wait):
      let node = node(inode)
      let changes = files[node].settled + files[node].pending.count
      waits[wait] = (node, changes, nameCount)
    case .syncEnd(let wait): settle(wait)
    case .say, .hear, .close: break
    }
  }

  // MARK: Bytes

  /// A file's bytes with some of its pending changes.
  func bytes(of node: Node, keeping: (Int, Change) -> [Range<Int>]) -> [UInt8] {
    var bytes = files[node].bytes
    for (number, change) in files[node].pending.enumerated() {
      for part in keeping(number, change) { Self.apply(change, part, to: &bytes, log) }
    }
    return bytes
  }

  /// The file's size as the running system saw it.
  func size(of node: Node) -> Int {
    files[node].pending.reduce(files[node].bytes.count) { size, change in
      switch change {
      case .write(let offset, let bytes): max(size, offset + bytes.count)
      case .truncate(let size): size
      }
    }
  }

  private static func apply(
    _ change: Change,
    _ part: Range<Int>,
    to bytes: inout [UInt8],
    _ log: [UInt8]
  ) {
    switch change {
    case .truncate(let size):
      if size < bytes.count {
        bytes.removeLast(bytes.count - size)
      } else {
        bytes += [UInt8](repeating: 0, count: size - bytes.count)
      }
    case .write(let offset, let source):
      let start = offset + part.lowerBound
      let end = offset + part.upperBound
      if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      log.withUnsafeBytes { log in
        bytes.withUnsafeMutableBytes { bytes in
          let from = log[
            (source.lowerBound + part.lowerBound)..<(source.lowerBound + part.upperBound)
          ]
          UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: from))
        }
      }
    }
  }

  private mutating func takeBase(_ inode: UInt64, _ mode: UInt32, _ bytes: Range<Int>) {
    if let known = nodes[inode], files[known].links > 0, size(of: known) > 0 { return }
    let taken: Node
    if let known = nodes[inode], files[known].links > 0 {
      taken = known
    } else {
      taken = fresh(inode, isFolder: false, mode: mode)
    }
    files[taken].pending.append(.write(offset: 0, bytes: bytes))
  }

  // MARK: Names

  private mutating func add(_ name: BytePath, _ node: Node, in folder: Node) {
    files[node].links += 1
    append(NameChange(folder: folder, added: [(folder, name, node)]))
  }

  private mutating func remove(_ name: BytePath, _ node: Node, in folder: Node) {
    files[node].links -= 1
    append(NameChange(folder: folder, removed: [(folder, name, node)]))
  }

  private mutating func rename(
    _ from: (UInt64, BytePath),
    _ to: (UInt64, BytePath),
    _ inode: UInt64,
    _ exchanges: Bool
  ) {
    let moved = node(inode)
    let target = to.0 == 0 ? nil : node(to.0, isFolder: true)
    let source = from.0 == 0 ? nil : node(from.0, isFolder: true)
    guard let folder = target ?? source else { return }
    var change = NameChange(folder: folder)
    if let source { change.removed.append((source, from.1, moved)) }
    if let target {
      if let replaced = seen(to.1, in: target) {
        if exchanges, let source {
          change.added.append((source, from.1, replaced))
        } else {
          files[replaced].links -= 1
        }
      }
      change.added.append((target, to.1, moved))
    }
    files[moved].links += (target == nil ? 0 : 1) - (source == nil ? 0 : 1)
    append(change)
  }

  private mutating func append(_ change: NameChange) {
    pendingNames.append(change)
    pendingNumbers.append(nameCount)
    nameCount += 1
  }

  /// What the running system sees under a name.
  private func seen(_ name: BytePath, in folder: Node) -> Node? {
    var found = files[folder].names[name]
    for change in pendingNames {
      if change.removed.contains(where: { $0.folder == folder && $0.name == name }) { found = nil }
      for added in change.added where added.folder == folder && added.name == name {
        found = added.node
      }
    }
    return found
  }

  static func apply(_ change: NameChange, to names: inout [Node: [BytePath: Node]]) {
    for (folder, name, node) in change.removed where names[folder]?[name] == node {
      names[folder]?[name] = nil
    }
    for (folder, name, node) in change.added { names[folder, default: [:]][name] = node }
  }

  // MARK: Syncs

  private mutating func settle(_ wait: UInt64) {
    guard let (node, changes, names) = waits.removeValue(forKey: wait) else { return }
    if files[node].isFolder {
      settleNames(of: node, before: names)
      return
    }
    let count = changes - files[node].settled
    guard count > 0 else { return }
    for change in files[node].pending.prefix(count) {
      Self.apply(change, Self.whole(change), to: &files[node].bytes, log)
    }
    files[node].pending.removeFirst(count)
    files[node].settled = changes
  }

  private mutating func settleNames(of folder: Node, before limit: Int) {
    var kept: [NameChange] = []
    var keptNumbers: [Int] = []
    for (change, number) in zip(pendingNames, pendingNumbers) {
      guard change.folder == folder, number < limit else {
        kept.append(change)
        keptNumbers.append(number)
        continue
      }
      for (folder, name, node) in change.removed where files[folder].names[name] == node {
        files[folder].names[name] = nil
      }
      for (folder, name, node) in change.added { files[folder].names[name] = node }
    }
    (pendingNames, pendingNumbers) = (kept, keptNumbers)
  }

  static func whole(_ change: Change) -> Range<Int> {
    if case .write(_, let bytes) = change { 0..<bytes.count } else { 0..<0 }
  }

  // MARK: Nodes

  private mutating func fresh(_ inode: UInt64, isFolder: Bool, mode: UInt32) -> Node {
    files.append(File(isFolder: isFolder, mode: mode))
    nodes[inode] = files.count - 1
    return files.count - 1
  }

  private mutating func node(_ inode: UInt64, isFolder: Bool = false) -> Node {
    nodes[inode] ?? fresh(inode, isFolder: isFolder, mode: isFolder ? 0o755 : 0o644)
  }
}
