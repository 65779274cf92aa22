package import HandoffProtocol
package import Paths

/// What an import may do with the source.
package enum ImportMode: Hashable, Sendable {
  /// The source stays as it is: the library clones it where the file system can, else copies it.
  case copy
  /// The source will be removed once the ledger has the asset, so the library may take its very
  /// inode, without copying a byte.
  ///
  /// It does so only where the source has one link, lies on the library's file system, belongs to the
  /// broker or can be given to it, and can be removed; else it copies. The taken inode is made the
  /// broker's own and read-only before it gets its second name in the library, and the source keeps
  /// its name until ``AssetLibrary/removeSource(_:identity:of:)``: so a crash in between loses nothing.
  case take
}

/// A resource that is in the library now, durable and under its digest's name.
package struct ImportedResource: Hashable, Sendable {
  /// How it got there.
  package enum Method: String, Hashable, Sendable {
    /// The source's own inode; no byte was copied.
    case taken
    /// Shares the source's extents; no byte was copied.
    case reflinked
    case copied
    /// The same content was there already, was read again, and is good.
    case alreadyPresent = "already_present"
  }

  package let digest: ContentDigest
  /// Bytes.
  package let size: Int64
  package let method: Method
  /// Where a damaged object of this digest was put, which the import has replaced; nil if none was.
  ///
  /// An operator wants to hear of it: the medium may be failing.
  package let setAside: BytePath?
  /// The age of the object that was there already, good or damaged: the earlier of its inode's times, in
  /// nanoseconds since 1970; nil where none was.
  package var formerChange: Int64?

  package init(
    digest: ContentDigest,
    size: Int64,
    method: Method,
    setAside: BytePath? = nil
  ) {
    self.digest = digest
    self.size = size
    self.method = method
    self.setAside = setAside
  }
}
