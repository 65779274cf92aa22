package import HandoffProtocol
package import Paths

/// What a walk over all of `objects` has found, by names alone.
package struct LibraryCensus: Hashable, Sendable {
  /// One object.
  package struct Object: Hashable, Sendable {
    package let digest: ContentDigest
    package let path: BytePath
    /// Bytes.
    package let size: Int64
    /// Nanoseconds since 1970 of the last change to the inode.
    package let changed: Int64
    package let hasRecord: Bool
    /// Names of the inode.
    package let links: Int
  }

  package var objects: [Object] = []
  /// Records without an object; those of deleted assets among them.
  package var loneRecords: [ContentDigest] = []
  /// What is neither an object nor a record, nor where it belongs.
  package var strays: [BytePath] = []

  package init() {}
}

/// Something in the library that may be nobody's.
package struct Leftover: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case staging
    case setAside = "set_aside"
    case object
    case record
  }

  package let kind: Kind
  package let path: BytePath
  /// Of an object or a record.
  package let digest: ContentDigest?
  /// Bytes that removing it frees; none where the inode has another name.
  package let size: Int64
  /// Nanoseconds since 1970 of the last change to the inode.
  package let changed: Int64
  /// Of an object: it has a record; of a record: it has an object.
  package let hasCompanion: Bool
}
