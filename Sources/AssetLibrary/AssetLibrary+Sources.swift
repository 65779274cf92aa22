package import HandoffProtocol
package import Paths

/// What becomes of an original once the ledger has its asset.
extension AssetLibrary {
  /// Removes a source, if it is still the export that was imported.
  ///
  /// Call it after the ledger's commit, with the lease still held after a take.
  /// - Parameters:
  ///   - path: where the export was found.
  ///   - identity: the export as it was judged and imported.
  ///   - digest: what it was imported as.
  /// - Returns: false where another file has the name by now, or none has: then nothing was removed.
  /// - Throws: `unreadable` where it cannot be removed. The import counts all the same, and the library
  ///   does not depend on the source any more.
  package func removeSource(
    _ path: BytePath,
    identity: FileIdentity,
    of digest: ContentDigest
  ) async throws(LibraryError) -> Bool {
    let outcome = await lanes.run(bytes: 0) { () throws(Never) in
      Result { () throws(LibraryError) in
        try SourceRemoval(path: path, identity: identity).run()
      }
    }
    if outcome == .success(true) { return true }
    try await separate(digest, from: identity)
    return try outcome.get()
  }

  /// Moves a source to another folder, if it is still the export that was imported.
  ///
  /// A name that is taken in the folder (which exists already) gets a number (`clip~2.mp4`). To another
  /// file system it is copied, compared and synced before it is removed here. The answer is where it is
  /// now; nil where another file has the name by now, or none has.
  package func moveSource(
    _ path: BytePath,
    identity: FileIdentity,
    of digest: ContentDigest,
    to folder: BytePath
  ) async throws(LibraryError) -> BytePath? {
    let outcome = await lanes.run(bytes: identity.size) { () throws(Never) in
      Result { () throws(LibraryError) in
        try SourceMove(path: path, identity: identity, digest: digest, folder: folder).run()
      }
    }
    try await separate(digest, from: identity)
    return try outcome.get()
  }

  /// Makes an object's inode its own where a source that was taken keeps a name outside the library.
  private nonisolated(nonsending) func separate(
    _ digest: ContentDigest,
    from identity: FileIdentity
  ) async throws(LibraryError) {
    try await onLane(bytes: identity.size) { store throws(LibraryError) in
      try store.separate(digest, from: identity)
    }
  }
}
