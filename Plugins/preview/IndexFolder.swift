import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// The index page over the previews of a folder: made anew from what lies there.
///
/// Previews that end at the same moment, also of two destinations, wait for one another at a lock; the last
/// one sees all of them. What a crash has left out is found by the next rebuild.
struct IndexFolder: Sendable {
  /// What is its own: the lock, what it knows already, and the page before it is put in its place.
  static let own: BytePath = ".handoff-index"
  /// Bytes; a larger `preview.json` is none.
  static let largestFacts = 16 << 20

  /// Where the previews are.
  let folder: BytePath
  private let thread = BlockingThread("preview.index")

  init(_ folder: BytePath) {
    self.folder = folder
  }

  /// Makes the page anew, and tells what is left out or why that cannot be done.
  ///
  /// The previews are what was asked for: an index that cannot be made does not make them fail, and the
  /// next one tries again.
  func refresh(_ tell: (String) async -> Void) async {
    do {
      for complaint in try await rebuild() { await tell(complaint) }
    } catch {
      await tell("the index of \(folder.displayText) is not up to date: \(error)")
    }
  }

  /// Makes the page anew; a folder that is not there yet, or never had a preview, has none.
  ///
  /// - Returns: a sentence about each thing that is left out.
  func rebuild() async throws -> [String] {
    try await thread.run {
      let own = folder.appending(Self.own)
      guard try isWanted(own) else { return [] }
      let lock = try FolderLock(in: own)
      defer { withExtendedLifetime(lock) {} }
      try sweep()
      let known = IndexMemory.read(from: own)
      var memory = IndexMemory()
      var complaints: [String] = []
      let whole = try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
      for entry in try Directory.entries(of: whole, folder) {
        guard entry.kind == .directory, Self.isPreview(entry.name) else { continue }
        do {
          try memory.take(entry.name, in: folder, known: known)
        } catch {
          complaints.append("\(entry.name.displayText) is left out of the index: \(error)")
        }
      }
      if memory != known { try memory.write(to: own) }
      complaints += try publish(memory)
      return complaints
    }
  }

  private func isWanted(_ own: BytePath) throws(SystemError) -> Bool {
    guard try FileStatus.of(folder, following: true) != nil else { return false }
    if try FileStatus.of(own) != nil { return true }
    return try Directory.entries(of: FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY), folder)
      .contains { Self.isPreview($0.name) }
  }

  /// Previews are in folders that are named after an asset's UUID.
  private static func isPreview(_ name: BytePath) -> Bool {
    LocalIdentifier(name.lossyText + "/L0/001") != nil
  }

  /// Removes what a rebuild that was killed was writing.
  private func sweep() throws(SystemError) {
    let own = folder.appending(Self.own)
    let kept = [FolderLock.name, IndexMemory.file]
    for entry in try Directory.entries(of: own) where !kept.contains(entry.name) {
      try DurableFile.unlink(own.appending(entry.name))
    }
  }

  /// Puts the page in its place, unless somebody else's page is there.
  private func publish(_ memory: IndexMemory) throws -> [String] {
    let place = folder.appending(BytePath(IndexPage.file))
    guard try isOurs(place) else {
      return ["\(place.displayText) is not this plugin's: it stays, and there is no index page"]
    }
    let html = try IndexPage(entries: memory.entries).html()
    let draft = folder.appending(Self.own).appending(BytePath(IndexPage.file))
    try DurableFile.write(Array(html.utf8), to: draft, permissions: 0o644)
    try DurableFile.rename(draft, to: place)
    try Directory.sync(folder)
    return []
  }

  /// Nothing is there, or a page with the mark.
  private func isOurs(_ place: BytePath) throws(SystemError) -> Bool {
    guard let status = try FileStatus.of(place) else { return true }
    guard status.kind == .regular else { return false }
    let file = try FileDescriptor.open(place, O_RDONLY | O_NOFOLLOW)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { buffer.deallocate() }
    let count = try file.read(into: buffer, at: 0)
    return String(decoding: buffer[..<count], as: UTF8.self).contains(IndexPage.mark)
  }
}
