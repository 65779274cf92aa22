import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

extension ObjectStore {
  /// Makes what is missing and reads what is there; returns the library's id, nil where it is to be
  /// waited for.
  func prepare(whenMissing: AssetLibrary.WhenMissing) throws(LibraryError) -> String? {
    let standing = presence.standing()
    switch standing {
    case .present(let id):
      try makeFolders()
      return id
    case .unreadable(let error): throw error
    case .taken: throw inUse
    case .away where whenMissing == .create: return try make()
    case .away where whenMissing == .wait, .other where whenMissing == .wait: return nil
    case .away, .other:
      throw standing.absence(layout.root) ?? LibraryError(.unavailable, layout.root)
    }
  }

  private func make() throws(LibraryError) -> String {
    try makeFolders()
    let made = LibraryFile(format: StoreLayout.format, id: StoreLayout.randomDigits())
    try writeDurably(made, to: layout.libraryFile)
    // What is there counts: another process may have made one at the same moment.
    let standing = presence.standing()
    guard case .present(let id) = standing else {
      if standing == .taken { throw inUse }
      throw standing.absence(layout.root) ?? LibraryError(.unavailable, layout.root)
    }
    return id
  }

  private var inUse: LibraryError {
    LibraryError(.inUse, layout.root, detail: "another broker or command uses this library")
  }

  private func makeFolders() throws(LibraryError) {
    try storing(layout.root) { () throws(SystemError) in
      try Directory.createDurably(layout.root, permissions: 0o700)
    }
    for folder in layout.folders {
      try storing(folder) { () throws(SystemError) in
        try Directory.create(folder, permissions: 0o700)
      }
    }
    try storing(layout.objects) { () throws(SystemError) in
      try makeShards()
      try Directory.sync(layout.objects)
      try Directory.sync(layout.root)
    }
    // A rename or a hard link between two file systems fails, and would do so with each import.
    let devices = try layout.folders.map { (folder) throws(LibraryError) in
      try storing(folder) { () throws(SystemError) in
        try FileStatus.of(folder, following: true)?.device
      }
    }
    guard Set(devices).count == 1 else {
      throw LibraryError(.other, layout.root, detail: "its folders are on different file systems")
    }
  }

  /// Makes all 256 at once, so that no import has to sync more than the one folder it renames into.
  private func makeShards() throws(SystemError) {
    for shard in layout.shards {
      do throws(SystemError) {
        try checked("mkdir", shard) { mkdir(shard.nulTerminated, 0o700) }
      } catch let error where error.errno == EEXIST {
        continue
      }
    }
  }

  func space() throws(LibraryError) -> LibrarySpace {
    try requireAvailable()
    return try storing(layout.root) { () throws(SystemError) in
      var status = statvfs()
      try checked("statvfs", layout.root) { statvfs(layout.root.nulTerminated, &status) }
      let unit = Int64(status.f_frsize)
      return LibrarySpace(
        available: Int64(status.f_bavail) * unit,
        total: Int64(status.f_blocks) * unit
      )
    }
  }

  /// Bytes; nil where there is no such object.
  func size(of digest: ContentDigest) throws(LibraryError) -> Int64? {
    try requireAvailable()
    let path = layout.object(digest)
    return try storing(path) { () throws(SystemError) in try FileStatus.of(path)?.size }
  }

  // MARK: Small files

  /// Writes a document so that a crash leaves the old or the new one, never a part.
  func writeDurably(_ document: some Encodable, to path: BytePath) throws(LibraryError) {
    let bytes: [UInt8]
    do {
      bytes = try WireCoder.encode(document)
    } catch {
      throw LibraryError(.malformedRecord, path, detail: "\(error)")
    }
    let staged = try StagingFile.make(.record, in: layout, faults: faults)
    do throws(LibraryError) {
      try storing(path) { () throws(SystemError) in
        try faults.pass("library.write")
        try staged.file.write(bytes + [UInt8(ascii: "\n")])
        try faults.pass("library.fsync")
        try staged.file.sync()
        try faults.pass("library.rename")
        try DurableFile.rename(staged.path, to: path)
        try faults.pass("library.sync-folder")
        try Directory.sync(path.parent)
      }
    } catch {
      staged.discard(faults: faults, logger: logger)
      throw error
    }
  }

  /// A small file's bytes; nil if it is not there.
  func readSmallFile(_ path: BytePath, limit: Int) throws(LibraryError) -> [UInt8]? {
    try storing(path) { () throws(SystemError) in
      do throws(SystemError) {
        let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        return try file.readAll(limit: limit)
      } catch let error where error.errno == ENOENT {
        return nil
      }
    }
  }
}
