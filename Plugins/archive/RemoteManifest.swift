import HandoffProtocol
import LinuxSystem
import Paths

/// The `SHA256SUMS` of one folder of a remote, as sha256sum(1) writes and checks it.
///
/// It is replaced as a whole, and not every service does that at once. So where it is written in place, the
/// new one is uploaded under a temporary name first, and what a crash leaves are two files whose whole lines
/// are together what belongs in it.
struct RemoteManifest: Sendable {
  private static let temporaryName = ".handoff-SHA256SUMS.part"
  private static let thread = BlockingThread("archive.remote-manifest")
  private static let lineFeed = UInt8(ascii: "\n")

  let remote: Remote
  let features: RemoteFeatures
  let folder: String
  /// A folder of this machine for the file that is uploaded.
  let work: BytePath

  private var path: String { RemoteName.path(folder, Manifest.name.lossyText) }
  private var temporary: String { RemoteName.path(folder, Self.temporaryName) }

  /// Adds a file's line unless it is there, and reads the manifest back.
  func add(_ name: String, _ digest: ContentDigest) async throws {
    let names = [Manifest.name.lossyText, Self.temporaryName]
    let found = Set(try await remote.files(in: folder, named: names).map(\.name))
    let hasMain = found.contains(names[0])
    let hasTemporary = found.contains(names[1])
    let present = hasMain ? try await remote.content(of: path) : []
    let beside = hasTemporary ? try await remote.content(of: temporary) : []
    let line = ManifestLine(name: BytePath(name), digest: digest)
    let wanted = Self.merged(present, beside, line)
    if wanted != present { try await write(wanted) }
    if hasTemporary || (features.canMove && wanted != present) {
      try await remote.delete(temporary)
    }
  }

  /// The lines of both, and the new one, each with its end.
  ///
  /// What a line has told of an earlier file of that name, which is there no longer, is left out: sha256sum
  /// would find the copy damaged.
  private static func merged(
    _ present: [UInt8],
    _ beside: [UInt8],
    _ new: ManifestLine
  ) -> [UInt8] {
    // The manifest is written once what is beside it is whole. Before, a last line without an end is
    // somebody else's.
    var lines = beside.last == lineFeed ? wholeLines(present) : present.split(separator: lineFeed)
    let known = Set(lines)
    lines += wholeLines(beside).filter { !known.contains($0) }
    lines.removeAll { line in
      let isReturned = line.last == UInt8(ascii: "\r")
      return ManifestLine(isReturned ? line.dropLast() : line).map {
        $0.name == new.name && $0.digest != new.digest
      } ?? false
    }
    let line = ManifestLine.text(new.name, new.digest)[...]
    if !lines.contains(line) { lines.append(line) }
    return lines.flatMap { Array($0) + [lineFeed] }
  }

  private func write(_ bytes: [UInt8]) async throws {
    let file = work.appending("remote/SHA256SUMS-\(UInt32.random(in: .min ... .max))")
    try await Self.thread.run {
      try Directory.create(file.parent, permissions: 0o700)
      try DurableFile.write(bytes, to: file)
    }
    do {
      if features.canMove { try await remote.upload(file, to: temporary, inPlace: true) }
      try await remote.upload(file, to: path, inPlace: false)
      guard try await remote.content(of: path) == bytes else {
        throw ResultError(
          .receiverFailed,
          "\(remote.address.place(path)), read back, is not what was uploaded: somebody else writes it too",
          effect: .none,
          retry: .later
        )
      }
    } catch {
      try await Self.thread.run { _ = try DurableFile.unlink(file) }
      throw error
    }
    try await Self.thread.run { _ = try DurableFile.unlink(file) }
  }

  /// Lines without their ends; one that a crash has left half written is none.
  private static func wholeLines(_ content: [UInt8]) -> [ArraySlice<UInt8>] {
    let end = content.lastIndex(of: lineFeed).map { $0 + 1 } ?? 0
    return content[..<end].split(separator: lineFeed)
  }
}
