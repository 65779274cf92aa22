/// Tells whether a file is still the one that was looked at: any write, truncation, replacement or
/// change of mode changes it.
///
/// The times are nanoseconds since 1970 as fstat(2) has them.
package struct FileIdentity: Hashable, Sendable, Codable {
  package let device: UInt64
  package let inode: UInt64
  /// Bytes.
  package let size: Int64
  package let modified: Int64
  package let changed: Int64

  package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  /// The same inode with the same content, as far as size and times tell; its mode, owner, name or link
  /// count may have changed.
  package func hasSameContent(as other: FileIdentity) -> Bool {
    device == other.device && inode == other.inode && size == other.size
      && modified == other.modified
  }
}
