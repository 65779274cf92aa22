import Glibc
package import HandoffProtocol
import LinuxSystem
package import Paths

/// One resource that a handoff may read, and the name it is read under.
package struct GrantRequest: Hashable, Sendable {
  package let digest: ContentDigest
  /// The export's own name; of a path, only the last part counts.
  package let name: BytePath

  package init(digest: ContentDigest, name: BytePath) {
    self.digest = digest
    self.name = name
  }
}

extension AssetLibrary {
  /// Grants a handoff's resources: read-only paths, in the order asked for, that end with
  /// ``endGrants(destination:handoff:)``.
  ///
  /// Repeating it, also after a restart, gives the same paths. Grants are not synced: who needs one
  /// after a crash asks again. Where an object is not there the error is `asset_missing`, and nothing of
  /// the handoff is granted. The handoff's id must be good as a file name.
  package func grant(
    _ requests: [GrantRequest],
    destination: DestinationName,
    handoff: String
  ) async throws(LibraryError) -> [BytePath] {
    try await onFiles { store throws(LibraryError) in
      try GrantFolders(store: store).grant(requests, destination, handoff)
    }
  }

  /// Ends a handoff's grants.
  ///
  /// What a receiver has open stays readable; nothing can be opened any more.
  package func endGrants(
    destination: DestinationName,
    handoff: String
  ) async throws(LibraryError) {
    try await onFiles { store throws(LibraryError) in
      try GrantFolders(store: store).end(destination, handoff)
    }
  }

  /// The folder of a destination's grants, for binding it into the receiver's view; it is made if it
  /// is not there.
  package func grantsFolder(
    destination: DestinationName
  ) async throws(LibraryError) -> BytePath {
    try await onFiles { store throws(LibraryError) in
      try GrantFolders(store: store).folder(destination)
    }
  }

  /// Where a destination's grants are, whether or not the library is there.
  package func grantsPath(destination: DestinationName) -> BytePath {
    store.layout.grants.appending(destination.text)
  }

  /// Ends all grants but those of open handoffs (their ids by destination), for the start of a broker.
  ///
  /// The answer is the number of handoffs whose grants were ended.
  @discardableResult
  package func sweepGrants(
    keeping open: [DestinationName: Set<String>]
  ) async throws(LibraryError) -> Int {
    try await onFiles { store throws(LibraryError) in
      try GrantFolders(store: store).sweep(keeping: open)
    }
  }
}
