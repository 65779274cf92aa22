import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// What stands in `library.json`.
private struct LibraryFile: Hashable, Codable {
  var format: Int
  var id: String
}

extension ObjectStore {
  /// Makes what is missing and reads what is there; returns the library's id.
  func prepare(whenMissing: AssetLibrary.WhenMissing) throws(LibraryError) -> String {
    if let known = try readLibraryFile() {
      try makeFolders()
      return known.id
    }
    guard whenMissing == .create else {
      throw LibraryError(.unavailable, layout.root, detail: "there is no library.json")
    }
    try makeFolders()
    let made = LibraryFile(format: StoreLayout.format, id: StoreLayout.randomDigits())
    try writeDurably(made, to: layout.libraryFile)
    return made.id
  }

  private func makeFolders() throws(LibraryError) {
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

  private func readLibraryFile() throws(LibraryError) -> LibraryFile? {
    let path = layout.libraryFile
    guard let bytes = try readSmallFile(path, limit: 65_536) else { return nil }
    let file: LibraryFile
    do {
      file = try WireCoder.decode(LibraryFile.self, from: bytes)
    } catch {
      throw LibraryError(.unknownFormat, path, detail: "\(error)")
    }
    guard file.format <= StoreLayout.format else {
      throw LibraryError(
        .unknownFormat,
        path,
        detail: "format \(file.format) is newer than \(StoreLayout.format); use a newer handoff"
      )
    }
    return file
  }

  func space() throws(LibraryError) -> LibrarySpace {
    guard isAvailable else { throw LibraryError(.unavailable, layout.root) }
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
    guard isAvailable else { throw LibraryError(.unavailable, layout.root) }
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
