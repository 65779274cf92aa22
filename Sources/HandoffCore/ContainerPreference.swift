package import Paths

/// Which of several exports of one stem in one directory is taken: `prefer`.
///
/// A stem that a writer lengthens for a remux (`cut.remuxed.mp4`) counts as the shorter one, and among
/// two with the same extension the remux is better.
package struct ContainerPreference: Sendable {
  /// In lower case, best first; never empty.
  private let extensions: [[UInt8]]
  private let remuxed: [[UInt8]]
  /// How long a finished export waits for a better one, from its last change.
  package let wait: Duration

  /// Nil where nothing is preferred.
  package init?(_ settings: DropFolderSettings, remuxed: [String] = []) {
    guard !settings.prefer.isEmpty else { return nil }
    extensions = settings.prefer.map { BytePath("x.\($0)").lowercasedExtension }
    self.remuxed = remuxed.map { Array($0.utf8) }
    wait = settings.preferWait
  }

  /// What all files of one stem share: their directory and the stem.
  func unit(of path: BytePath) -> BytePath {
    path.parent.appending(split(path).stem)
  }

  /// Its container is the most preferred one.
  func isBest(_ path: BytePath) -> Bool { path.lowercasedExtension == extensions[0] }

  /// The paths that would be taken instead of this one, best first; extensions in lower or upper case.
  package func better(than path: BytePath) -> [BytePath] {
    let (stem, isRemux) = split(path)
    let own = path.lowercasedExtension
    let rank = extensions.firstIndex(of: own) ?? extensions.count
    let stems = [stem.bytes] + remuxed.map { stem.bytes + $0 }
    var names: [[UInt8]] = []
    for ending in extensions[..<rank] {
      for stem in stems { names += spellings(stem, ending) }
    }
    if rank < extensions.count, !isRemux {
      for stem in stems.dropFirst() { names += spellings(stem, own) }
    }
    return names.map { path.parent.appending(BytePath($0)) }
  }

  private func spellings(_ stem: [UInt8], _ ending: [UInt8]) -> [[UInt8]] {
    let dot = [UInt8(ascii: ".")]
    let upper = ending.map { (97...122).contains($0) ? $0 - 32 : $0 }
    return [stem + dot + ending, stem + dot + upper]
  }

  private func split(_ path: BytePath) -> (stem: BytePath, isRemux: Bool) {
    let stem = path.stem.bytes
    let suffix = remuxed.first { stem.count > $0.count && stem.suffix($0.count).elementsEqual($0) }
    guard let suffix else { return (BytePath(stem), false) }
    return (BytePath(stem.dropLast(suffix.count)), true)
  }
}
