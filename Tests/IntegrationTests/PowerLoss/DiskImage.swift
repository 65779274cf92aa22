import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// What a power cut may leave of what nobody has waited for.
enum Survival: CaseIterable, CustomStringConvertible {
  /// Nothing.
  case nothing
  /// Everything, as after a crash of the program alone.
  case everything
  /// All names, no bytes: a new file is empty.
  case names
  /// All names and sizes, no bytes: what is new reads as zeros.
  case sizes
  /// All bytes, no names.
  case bytes
  /// Any of the names, and any of the sectors of 512 bytes.
  case sectors
  /// Any of the names, and any of the pages of 4096 bytes.
  case pages

  var description: String {
    switch self {
    case .nothing: "nothing unsynced"
    case .everything: "everything"
    case .names: "names without bytes"
    case .sizes: "zeros"
    case .bytes: "bytes without names"
    case .sectors: "torn at 512"
    case .pages: "torn at 4096"
    }
  }
}

/// One state that the disk may be in after a cut.
struct DiskImage {
  private let model: DiskModel
  private let names: [DiskModel.Node: [BytePath: DiskModel.Node]]
  private let survival: Survival
  private let seed: UInt64

  init(_ model: DiskModel, _ survival: Survival, seed: UInt64) {
    self.model = model
    self.survival = survival
    self.seed = seed
    var names: [DiskModel.Node: [BytePath: DiskModel.Node]] = [:]
    for (node, file) in model.files.enumerated() where file.isFolder { names[node] = file.names }
    var random = SeededGenerator(seed: seed)
    for change in model.pendingNames {
      let survives =
        switch survival {
        case .nothing, .bytes: false
        case .everything, .names, .sizes: true
        case .sectors, .pages: Bool.random(using: &random)
        }
      if survives { DiskModel.apply(change, to: &names) }
    }
    self.names = names
  }

  /// What lies in a folder, by a path below the root; nil where there is no such folder.
  func entries(_ path: BytePath) -> [(name: BytePath, node: DiskModel.Node)]? {
    guard let node = node(path), model.files[node].isFolder else { return nil }
    return (names[node] ?? [:]).map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  func node(_ path: BytePath) -> DiskModel.Node? {
    var node = model.root
    for part in path.components {
      guard let next = names[node]?[part] else { return nil }
      node = next
    }
    return node
  }

  func isFolder(_ node: DiskModel.Node) -> Bool { model.files[node].isFolder }

  /// What a file holds.
  func bytes(of node: DiskModel.Node) -> [UInt8] {
    switch survival {
    case .nothing, .names: return model.bytes(of: node) { _, _ in [] }
    case .everything, .bytes: return model.bytes(of: node) { [DiskModel.whole($1)] }
    case .sizes:
      let bytes = model.bytes(of: node) { _, _ in [] }
      let more = max(0, model.size(of: node) - bytes.count)
      return bytes + [UInt8](repeating: 0, count: more)
    case .sectors: return torn(node, 512)
    case .pages: return torn(node, 4096)
    }
  }

  private func torn(_ node: DiskModel.Node, _ unit: Int) -> [UInt8] {
    var random = SeededGenerator(seed: seed &+ UInt64(node) &* 7919)
    return model.bytes(of: node) { _, change in
      guard case .write(let offset, let bytes) = change else {
        return Bool.random(using: &random) ? [DiskModel.whole(change)] : []
      }
      // The parts lie where the disk's own units do.
      var parts: [Range<Int>] = []
      var start = 0
      while start < bytes.count {
        let end = min(bytes.count, ((offset + start) / unit + 1) * unit - offset)
        if Bool.random(using: &random) { parts.append(start..<end) }
        start = end
      }
      return parts
    }
  }

  /// Writes a folder of this state somewhere; names of one file are hard links.
  func write(_ path: BytePath, to target: BytePath) throws {
    guard let node = node(path) else { return }
    var written: [DiskModel.Node: BytePath] = [:]
    try write(node, to: target, &written)
  }

  private func write(
    _ node: DiskModel.Node,
    to target: BytePath,
    _ written: inout [DiskModel.Node: BytePath]
  ) throws {
    guard !isFolder(node) else {
      try Directory.create(target, permissions: 0o700)
      for (name, inner) in names[node] ?? [:] {
        try write(inner, to: target.appending(name), &written)
      }
      return
    }
    if let first = written[node] {
      try DurableFile.link(first, to: target)
      return
    }
    let file = try FileDescriptor.open(target, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try file.write(bytes(of: node))
    try file.setPermissions(model.files[node].mode)
    written[node] = target
  }
}
