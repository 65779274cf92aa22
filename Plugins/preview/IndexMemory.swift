import FoundationEssentials
import Glibc
import LinuxSystem
import Paths

/// What the last rebuild of the index knew of each preview, so that the next one reads only what is new.
///
/// It is a cache: a file that cannot be read is as good as none.
struct IndexMemory: Sendable, Hashable, Codable {
  static let file: BytePath = "entries.json"

  /// One preview as it was seen.
  private struct Seen: Sendable, Hashable, Codable {
    let inode: UInt64
    let size: Int64
    /// Nanoseconds since 1970.
    let changed: Int64
    let entry: IndexEntry
  }

  /// Raised when entries are made in another way.
  private var version = 1
  private var previews: [String: Seen] = [:]

  /// The newest first; of two of the same moment, in the order of their names.
  var entries: [IndexEntry] {
    previews.values.map(\.entry).sorted {
      $0.madeAt == $1.madeAt ? $0.folder < $1.folder : $0.madeAt > $1.madeAt
    }
  }

  /// What the last rebuild left; empty where that is of no use.
  static func read(from folder: BytePath) -> IndexMemory {
    do {
      let file = try FileDescriptor.open(folder.appending(file), O_RDONLY | O_NOFOLLOW)
      let bytes = try file.readAll(limit: 256 << 20)
      let memory = try JSONDecoder().decode(IndexMemory.self, from: Data(bytes))
      return memory.version == IndexMemory().version ? memory : IndexMemory()
    } catch {
      // The first rebuild has none; a damaged one is made anew, at the price of reading everything.
      return IndexMemory()
    }
  }

  /// Keeps what is known for the next rebuild.
  func write(to folder: BytePath) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(self)
    try DurableFile.write(Array(data), to: folder.appending(Self.file), permissions: 0o644)
  }

  /// Takes in a preview: as it is known, or by reading its facts.
  ///
  /// A folder without facts is no preview.
  mutating func take(_ name: BytePath, in folder: BytePath, known: IndexMemory) throws {
    let text = name.lossyText
    let path = folder.appending(name).appending(BytePath(PreviewFacts.file))
    guard let status = try FileStatus.of(path) else { return }
    if let seen = known.previews[text], seen.inode == status.inode, seen.size == status.size,
      seen.changed == status.changed
    {
      previews[text] = seen
      return
    }
    guard status.kind == .regular else { throw SystemError(EINVAL, "open", path) }
    let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
    let bytes = try file.readAll(limit: IndexFolder.largestFacts)
    let facts = try JSONDecoder().decode(PreviewFacts.self, from: Data(bytes))
    guard facts.version == PreviewFacts.currentVersion else {
      throw UnknownFacts(version: facts.version)
    }
    previews[text] = Seen(
      inode: status.inode,
      size: status.size,
      changed: status.changed,
      entry: IndexEntry(folder: text, facts)
    )
  }
}

/// A `preview.json` that a newer plugin has written.
struct UnknownFacts: Error, CustomStringConvertible {
  let version: Int

  var description: String { "\(PreviewFacts.file) is of version \(version)" }
}
