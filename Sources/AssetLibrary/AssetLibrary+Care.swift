package import HandoffProtocol
package import LinuxSystem
package import Paths

/// What reading an object again has shown.
package struct ObjectReading: Hashable, Sendable {
  package let verification: Verification
  /// The object's modification time in nanoseconds: another one later says that somebody wrote to it.
  package let modified: Int64
  /// Bytes.
  package let size: Int64
  /// Its mode was not read-only, and is now.
  package let wasMended: Bool
}

/// An object as a look at its name shows it, without reading it.
package struct ObjectGlance: Hashable, Sendable {
  /// Bytes.
  package let size: Int64
  /// Nanoseconds.
  package let modified: Int64
  /// A file, as opposed to a folder or a link.
  package let isRegular: Bool
}

extension AssetLibrary {
  /// Reads an object again, from the disk where the kernel lets that be, and compares its bytes with its
  /// name; nil where the pace was stopped first.
  ///
  /// An object that cannot be read because the medium fails is damaged.
  package func reread(
    _ digest: ContentDigest,
    at pace: ReadPace
  ) async throws(LibraryError) -> ObjectReading? {
    try await pace.thread.run { [store, lanes] () throws(LibraryError) in
      try store.available { () throws(LibraryError) in
        try store.reread(digest, at: pace) { lanes.isBusy }
      }
    }
  }

  /// What is under an object's name; nil where nothing is.
  package func glance(
    at digest: ContentDigest
  ) async throws(LibraryError) -> ObjectGlance? {
    try await onFiles { store throws(LibraryError) in try store.glance(at: digest) }
  }

  /// Opens an object for reading: what is open stays readable, whatever becomes of its name.
  package func open(_ digest: ContentDigest) async throws(LibraryError) -> FileDescriptor {
    try await onFiles { store throws(LibraryError) in try store.open(digest) }
  }

  /// Everything under `objects`, without reading any object.
  package func census() async throws(LibraryError) -> LibraryCensus {
    try await onLane(bytes: .max) { store throws(LibraryError) in try store.census() }
  }

  /// What may be nobody's: staging files, objects that were set aside, objects and records.
  ///
  /// Who is asking knows what the ledger has; see ``clear(_:unchangedSince:)``.
  package func leftovers() async throws(LibraryError) -> [Leftover] {
    try await onLane(bytes: .max) { store throws(LibraryError) in try store.leftovers() }
  }

  /// Removes a leftover if its inode has not changed since a moment (nanoseconds) and no import owns it.
  ///
  /// An import that finds its content in the library renews the object first, under the same lock: what
  /// is young enough to belong to one is never removed.
  /// - Returns: false where it stays.
  package func clear(
    _ leftover: Leftover,
    unchangedSince moment: Int64
  ) async throws(LibraryError) -> Bool {
    try await onFiles { store throws(LibraryError) in
      try store.clear(leftover, unchangedSince: moment)
    }
  }

  /// The handoffs that have a folder of grants, by destination.
  package func granted() async throws(LibraryError) -> [(destination: BytePath, handoff: BytePath)]
  {
    try await onFiles { store throws(LibraryError) in try store.granted() }
  }
}

extension AssetLibrary {
  /// Where an object is, or would be.
  package func objectPath(of digest: ContentDigest) -> BytePath { store.layout.object(digest) }

  /// Where its record is, or would be.
  package func recordPath(of digest: ContentDigest) -> BytePath { store.layout.record(digest) }
}
