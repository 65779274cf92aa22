package import Glibc
package import Paths

/// What fstat(2) says of a file.
package struct FileStatus: Hashable, Sendable {
  /// What kind of file it is.
  package enum Kind: Hashable, Sendable {
    case regular
    case directory
    case symbolicLink
    /// FIFO, socket, or device.
    case other
  }

  package let kind: Kind
  package let device: UInt64
  package let inode: UInt64
  /// In bytes.
  package let size: Int64
  /// In units of 512 bytes.
  package let blocks: Int64
  package let links: UInt64
  package let owner: UInt32
  package let group: UInt32
  /// Permission bits only.
  package let permissions: UInt32
  /// Nanoseconds since 1970; may be negative.
  package let modified: Int64
  /// Nanoseconds since 1970 of the last change to the inode, which no user can set.
  package let changed: Int64

  package init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      default: .other
      }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    blocks = Int64(status.st_blocks)
    links = UInt64(status.st_nlink)
    owner = status.st_uid
    group = status.st_gid
    permissions = UInt32(status.st_mode & 0o7777)
    modified = status.st_mtim.nanoseconds
    changed = status.st_ctim.nanoseconds
  }

  /// What tells whether it is still the file that was looked at.
  package var identity: FileIdentity {
    FileIdentity(device: device, inode: inode, size: size, modified: modified, changed: changed)
  }
}

extension timespec {
  fileprivate var nanoseconds: Int64 {
    // A time outside Int64's range (year 2262) is clamped: it only has to compare as different.
    let (seconds, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (tv_sec < 0 ? .min : .max) : seconds &+ Int64(tv_nsec)
  }
}
