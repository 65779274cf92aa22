import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// The `SHA256SUMS` of one folder, as sha256sum(1) writes and checks it.
struct Manifest {
  static let name: BytePath = "SHA256SUMS"
  /// A manifest that is larger is not one, in bytes.
  private static let largest = 256 << 20
  private static let lineFeed = UInt8(ascii: "\n")

  let folder: BytePath

  private var path: BytePath { folder.appending(Self.name) }

  /// It has the name for other content only: then sha256sum would find the copy damaged for ever.
  func listsOtherwise(_ name: BytePath, _ digest: ContentDigest) throws -> Bool {
    guard try FileStatus.of(path)?.kind == .regular else { return false }
    let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let known = ManifestLine.digests(of: name, in: try file.readAll(limit: Self.largest))
    return !known.isEmpty && !known.contains(digest)
  }

  /// Adds a file's line unless it is there, and waits until it is on the disk.
  ///
  /// A line goes out in one write under a lock; what a crash left half written is cut off first.
  func add(_ name: BytePath, _ digest: ContentDigest) throws {
    while true {
      let file = try FileDescriptor.open(
        path,
        O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
        mode: 0o644
      )
      guard try file.status().kind == .regular else { throw SystemError(EINVAL, "open", path) }
      try checked("flock", path) { flock(file.rawValue, LOCK_EX) }
      // While it was waited for, an editor may have put another file in its place.
      guard try FileStatus.of(path)?.inode == file.status().inode else { continue }
      let content = try file.readAll(limit: Self.largest)
      if !ManifestLine.digests(of: name, in: content).contains(digest) {
        try append(ManifestLine.text(name, digest), to: file, content)
      }
      // Also what was there: who wrote it may have been killed before this.
      try file.sync()
      try file.close()
      return try Directory.sync(folder)
    }
  }

  private func append(_ line: [UInt8], to file: FileDescriptor, _ content: [UInt8]) throws {
    let whole = content.lastIndex(of: Self.lineFeed).map { $0 + 1 } ?? 0
    let rest = content[whole...]
    let isTorn = try !rest.isEmpty && isTorn(rest, line)
    let end = isTorn ? whole : content.count
    if isTorn { try cut(file, end) }
    try checked("lseek", path) { lseek(file.rawValue, off_t(end), SEEK_SET) }
    do {
      let begin = rest.isEmpty || isTorn ? [] : [Self.lineFeed]
      try file.write(begin + line + [Self.lineFeed])
    } catch {
      ArchiveError.logged("mending \(path.displayText)") { try cut(file, end) }
      throw error
    }
  }

  private func cut(_ file: FileDescriptor, _ size: Int) throws {
    try checked("ftruncate", path) { ftruncate(file.rawValue, off_t(size)) }
  }

  /// A last line without an end is what a crash has left of one of the archive's; else it is somebody else's,
  /// who has written none.
  private func isTorn(_ rest: ArraySlice<UInt8>, _ line: [UInt8]) throws -> Bool {
    if line.starts(with: rest) { return true }
    if let whole = ManifestLine(rest) {
      return try FileStatus.of(folder.appending(whole.name)) == nil
    }
    let digits = rest.first == UInt8(ascii: "\\") ? rest.dropFirst() : rest
    return digits.count <= 66
      && digits.prefix(64).allSatisfy { "0123456789abcdef".utf8.contains($0) }
      && digits.dropFirst(64).allSatisfy { $0 == UInt8(ascii: " ") }
  }
}
