import Glibc
package import HandoffCore
package import HandoffLog
package import HandoffProtocol
package import LinuxSystem
package import Paths

/// The content-addressed store of assets: imports resources, keeps their records, and grants them.
///
/// Every call does its blocking work on threads of its own. Nothing is held open between calls, so
/// that an unmounted library is noticed (`library_unavailable`) and does not hinder the unmounting.
package final class AssetLibrary: Sendable {
  /// What opening does where there is no library yet.
  package enum WhenMissing: Hashable, Sendable {
    case create
    /// Refuse with `library_unavailable`: for whoever cannot wait for it.
    case refuse
    /// Open all the same: every call says `library_unavailable` until the library is there. For a broker
    /// whose ledger knows assets, and which must not begin a new library on an empty mount point.
    case wait
  }

  /// The library's folder.
  package let path: BytePath
  /// 32 hexadecimal digits, made once with the library: tells one library from another; nil where it was
  /// not there when it was opened.
  package let id: String?
  let store: ObjectStore
  let lanes: ImportLanes
  let files: BlockingThread

  private init(store: ObjectStore, id: String?, files: BlockingThread) {
    self.path = store.layout.root
    self.id = id
    self.store = store
    self.files = files
    self.lanes = ImportLanes(count: max(2, sysconf(CInt(_SC_NPROCESSORS_ONLN))))
  }

  /// Opens a library, makes its folders where they are missing, and removes what interrupted imports
  /// have left in `staging`.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - logger: hears only of failures that change nothing.
  ///   - whenMissing: what to do where there is no `library.json`.
  ///   - id: the library that is meant, as the ledger knows it; another one at the path is as good as
  ///     none. Nil takes the first that is found.
  ///   - isExclusive: have it for this process alone, from now on or from when it comes back.
  ///   - isSweeping: remove what interrupted imports have left; false for who only looks.
  ///   - faults: for tests.
  /// - Returns: the library, ready.
  /// - Throws: ``LibraryError`` with `unknown_format` for a library of a newer format; with
  ///   `library_in_use` for one that another process has for itself.
  package static func open(
    at path: BytePath,
    logger: Logger,
    whenMissing: WhenMissing = .create,
    expecting id: String? = nil,
    isExclusive: Bool = false,
    isSweeping: Bool = true,
    faults: FaultPlan = .current
  ) async throws(LibraryError) -> AssetLibrary {
    let files = BlockingThread("library.files")
    let layout = StoreLayout(root: path)
    let store = ObjectStore(
      layout: layout,
      logger: logger,
      faults: faults,
      presence: LibraryPresence(layout, id: id, isExclusive: isExclusive, logger: logger)
    )
    let found = try await files.run { () throws(LibraryError) -> String? in
      guard let id = try store.prepare(whenMissing: whenMissing) else { return nil }
      if isSweeping { _ = try StagingFile.sweep(store.layout) }
      return id
    }
    return AssetLibrary(store: store, id: found, files: files)
  }

  /// Whether a folder holds no object and no record: also where there is no library at all.
  ///
  /// Nothing is made or changed. Only an empty library may be given to a ledger that begins.
  package static func isEmpty(
    at path: BytePath,
    logger: Logger
  ) async throws(LibraryError) -> Bool {
    let layout = StoreLayout(root: path)
    let store = ObjectStore(
      layout: layout,
      logger: logger,
      faults: .current,
      presence: LibraryPresence(layout, id: nil, isExclusive: false, logger: logger)
    )
    return try await BlockingThread("library.look").run { () throws(LibraryError) in
      try store.holdsNothing()
    }
  }

  /// The library is there: its file system is mounted, and it is the right one.
  package func isAvailable() async -> Bool { await absence() == nil }

  /// Why the library cannot be used now, as an error; nil where it can.
  package func absence() async -> LibraryError? {
    await files.run { [store] () throws(Never) in store.absence }
  }

  /// The room on the library's file system, as an ordinary user may use it.
  package func freeSpace() async throws(LibraryError) -> LibrarySpace {
    try await onFiles { store throws(LibraryError) in try store.space() }
  }

  /// Reads an object again and compares its bytes with its name.
  package func verify(_ digest: ContentDigest) async throws(LibraryError) -> Verification {
    let size = try await onFiles { store throws(LibraryError) in try store.size(of: digest) }
    guard let size else { return .missing }
    return try await onLane(bytes: size) { store throws(LibraryError) in
      switch try store.look(at: digest) {
      case .good: .good
      case .missing: .missing
      case .damaged: .damaged
      }
    }
  }

  /// Brings an export's bytes into the library: durable, under their digest's name.
  ///
  /// The source is left as it is, whatever happens, but for what ``ImportMode/take`` says.
  /// - Parameters:
  ///   - descriptor: the export, open for reading; the bytes come from here and from no other file.
  ///   - path: where the export was found; for errors, and for taking it.
  ///   - identity: the export as it was judged.
  ///   - mode: what may be done with the source.
  ///   - checksum: what the writer says of the bytes; nil where nothing is said.
  ///   - isStillGood: the lease; asked often, from another thread. False gives the attempt up.
  /// - Returns: what is in the library now.
  /// - Throws: ``LibraryError``; `source_changed` where the export is no longer what was judged,
  ///   `checksum_mismatch` where its bytes are not what the writer says: then nothing is in the library.
  package func importResource(
    from descriptor: FileDescriptor,
    path: BytePath,
    expecting identity: FileIdentity,
    mode: ImportMode = .copy,
    checksum: ContentChecksum? = nil,
    isStillGood: @escaping @Sendable () -> Bool
  ) async throws(LibraryError) -> ImportedResource {
    try await onLane(bytes: identity.size) { store throws(LibraryError) in
      try ImportAttempt(
        store: store,
        source: descriptor,
        path: path,
        expected: identity,
        mode: mode,
        checksum: checksum,
        isStillGood: isStillGood
      )
      .run()
    }
  }

  /// Short work on the library's own thread.
  nonisolated(nonsending) func onFiles<Value: Sendable>(
    _ work: @escaping @Sendable (ObjectStore) throws(LibraryError) -> Value
  ) async throws(LibraryError) -> Value {
    try await files.run { [store] () throws(LibraryError) in
      try store.available { () throws(LibraryError) in try work(store) }
    }
  }

  /// Work over a resource's bytes.
  nonisolated(nonsending) func onLane<Value: Sendable>(
    bytes: Int64,
    _ work: @escaping @Sendable (ObjectStore) throws(LibraryError) -> Value
  ) async throws(LibraryError) -> Value {
    try await lanes.run(bytes: bytes) { [store] () throws(LibraryError) in
      try store.available { () throws(LibraryError) in try work(store) }
    }
  }
}

/// What reading an object again has shown.
package enum Verification: String, Hashable, Sendable {
  case good
  case missing
  case damaged
}

/// Room on a file system, in bytes.
package struct LibrarySpace: Hashable, Sendable {
  /// What an ordinary user may still write.
  package let available: Int64
  /// The file system's size.
  package let total: Int64
}
