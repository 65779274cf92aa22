import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// The `SHA256SUMS` of one folder, as sha256sum(1) writes and checks it.
struct Manifest {
  static let name: BytePath = "SHA256SUMS"
  /// A manifest that is larger is not one, in bytes.
  private static let largest = 256 << 20

  let folder: BytePath

  /// Adds a file's line unless it is there, and waits until it is on the disk.
  ///
  /// A line goes out in one write under a lock; what a crash left half written is cut off first.
  func add(_ name: BytePath, _ digest: ContentDigest) throws {
    let path = folder.appending(Self.name)
    let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o644)
    try checked("flock", path) { flock(file.rawValue, LOCK_EX) }
    let content = try file.readAll(limit: Self.largest)
    let line = Self.line(name, digest)
    if content.split(separator: UInt8(ascii: "\n")).contains(where: { $0 == line[...] }) { return }
    let whole = content.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    if whole < content.count {
      try checked("ftruncate", path) { ftruncate(file.rawValue, off_t(whole)) }
    }
    try checked("lseek", path) { lseek(file.rawValue, 0, SEEK_END) }
    try file.write(line + [UInt8(ascii: "\n")])
    try file.sync()
    try file.close()
    // The manifest's own name, the first time.
    if content.isEmpty { try Directory.sync(folder) }
  }

  /// One line without its end.
  ///
  /// Names with a backslash or a line feed are escaped, and the line then begins with a backslash.
  /// Every other byte stands as it is.
  static func line(_ name: BytePath, _ digest: ContentDigest) -> [UInt8] {
    var escaped: [UInt8] = []
    for byte in name.bytes {
      switch byte {
      case UInt8(ascii: "\\"): escaped += Array(#"\\"#.utf8)
      case UInt8(ascii: "\n"): escaped += Array(#"\n"#.utf8)
      default: escaped.append(byte)
      }
    }
    let mark = escaped.count == name.bytes.count ? "" : "\\"
    // A lone dash would mean standard input.
    let prefix = name == "-" ? "./" : ""
    return Array("\(mark)\(digest.hex)  \(prefix)".utf8) + escaped
  }
}
