package import HandoffCore
package import HandoffProtocol
import LinuxSystem
import Paths

extension AssetLibrary {
  /// There is an object of that digest.
  ///
  /// Its bytes are not read.
  package func holds(_ digest: ContentDigest) async throws(LibraryError) -> Bool {
    try await onFiles { store throws(LibraryError) in try store.size(of: digest) != nil }
  }

  /// Puts a tombstone in the place of an asset: its record says `deleted`, then its object is removed.
  ///
  /// The object stays where it is needed all the same, as another asset's rendition. Its renditions are not
  /// named any more; their objects are removed by ``removeObject(_:)``.
  ///
  /// Both are durable when this returns. Call it after the ledger's commit, and again after a crash: repeating it changes nothing. What a
  /// grant still links to stays readable until the grant ends. An object that was set aside as damaged
  /// stays where it is.
  package func leaveTombstone(
    of asset: Asset,
    keepingObject: Bool = false
  ) async throws(LibraryError) {
    var tombstone = asset
    tombstone.status = .deleted
    tombstone.renditions = []
    try await writeRecord(tombstone)
    if !keepingObject { try await removeObject(asset.digest) }
  }

  /// Removes an object that nobody needs any more; repeating it changes nothing.
  package func removeObject(_ digest: ContentDigest) async throws(LibraryError) {
    try await onFiles { store throws(LibraryError) in try store.remove(digest) }
  }
}

extension ObjectStore {
  fileprivate func remove(_ digest: ContentDigest) throws(LibraryError) {
    try requireAvailable()
    let object = layout.object(digest)
    try exchange.withLock { () throws(LibraryError) in
      try storing(object) { () throws(SystemError) in
        try faults.pass("library.remove")
        try DurableFile.unlink(object)
        try faults.pass("library.sync-folder")
        try Directory.sync(layout.shard(digest))
      }
    }
  }
}
