import Glibc
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

/// The tree `grants/<destination>/<handoff id>/<n>/<export file name>`.
struct GrantFolders {
  let store: ObjectStore

  func folder(_ destination: DestinationName) throws(LibraryError) -> BytePath {
    let folder = store.layout.grants.appending(destination.text)
    try make(folder)
    return folder
  }

  func grant(
    _ requests: [GrantRequest],
    _ destination: DestinationName,
    _ handoff: String
  ) throws(LibraryError) -> [BytePath] {
    let folder = try handoffFolder(destination, handoff)
    try make(folder.parent)
    try make(folder)
    do throws(LibraryError) {
      var paths: [BytePath] = []
      for (index, request) in requests.enumerated() {
        paths.append(try grant(request, in: folder.appending("\(index + 1)")))
      }
      return paths
    } catch {
      store.logger.logged("The rest of a refused grant could not be removed.") {
        try remove(folder)
      }
      throw error
    }
  }

  func end(_ destination: DestinationName, _ handoff: String) throws(LibraryError) {
    try remove(try handoffFolder(destination, handoff))
  }

  func sweep(keeping open: [DestinationName: Set<String>]) throws(LibraryError) -> Int {
    var count = 0
    for destination in try store.entries(of: store.layout.grants) {
      let folder = store.layout.grants.appending(destination.name)
      let kept =
        destination.name.exactText.flatMap { DestinationName($0) }.flatMap { open[$0] } ?? []
      for handoff in try store.entries(of: folder)
      where !kept.contains(where: { BytePath($0) == handoff.name }) {
        try remove(folder.appending(handoff.name))
        count += 1
      }
    }
    return count
  }

  // MARK: Parts

  private func grant(_ request: GrantRequest, in folder: BytePath) throws(LibraryError) -> BytePath
  {
    let name = request.name.lastComponent
    guard isFileName(name) else { throw LibraryError(.invalidName, request.name) }
    let object = store.layout.object(request.digest)
    let path = folder.appending(name)
    try make(folder)
    // What an earlier try left under another name, or for an object that was replaced since.
    for entry in try store.entries(of: folder) {
      let old = folder.appending(entry.name)
      if entry.name == name, try isSameFile(old, object) { return path }
      _ = try storing(old) { () throws(SystemError) in try DurableFile.unlink(old) }
    }
    let isLinked: Bool
    do throws(LibraryError) {
      isLinked = try link(object, to: path)
    } catch let error where error.underlying?.errno == ENOENT && store.isAvailable {
      throw LibraryError(.objectMissing, object)
    }
    if !isLinked { try copy(object, to: path) }
    return path
  }

  /// False where the file system makes no further link.
  private func link(_ object: BytePath, to path: BytePath) throws(LibraryError) -> Bool {
    try storing(path) { () throws(SystemError) in
      do throws(SystemError) {
        try store.faults.pass("library.grant")
        try DurableFile.link(object, to: path)
        return true
      } catch let error where [EMLINK, EPERM, EOPNOTSUPP].contains(error.errno) {
        return false
      }
    }
  }

  /// Where no further link can be made (ext4 ends at 65,000): a copy of its own, cloned if possible.
  private func copy(_ object: BytePath, to path: BytePath) throws(LibraryError) {
    let staged = try StagingFile.make(.import, in: store.layout, faults: store.faults)
    do throws(LibraryError) {
      let (source, size) = try storing(object) { () throws(SystemError) in
        let file = try FileDescriptor.open(object, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        return (file, try file.status().size)
      }
      let pass = ReadPass(source: source, path: object, size: size, isStored: true)
      let target = ReadPass.Target(file: staged.file, path: staged.path, faults: store.faults)
      let digest = try pass.digest(copyingTo: target)
      guard object.lastComponent == BytePath(digest.hex) else {
        throw LibraryError(.objectDamaged, object)
      }
      try storing(path) { () throws(SystemError) in
        try staged.file.setPermissions(0o444)
        try DurableFile.renameNoReplace(staged.path, to: path)
      }
    } catch {
      staged.discard(faults: store.faults, logger: store.logger)
      throw error
    }
  }

  private func handoffFolder(
    _ destination: DestinationName,
    _ handoff: String
  ) throws(LibraryError) -> BytePath {
    let name = BytePath(handoff)
    guard isFileName(name) else { throw LibraryError(.invalidName, name) }
    return store.layout.grants.appending(destination.text).appending(name)
  }

  private func isFileName(_ name: BytePath) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.bytes.contains(UInt8(ascii: "/"))
      && name.bytes.count <= Int(NAME_MAX)
  }

  private func isSameFile(_ left: BytePath, _ right: BytePath) throws(LibraryError) -> Bool {
    try storing(left) { () throws(SystemError) in
      guard let left = try FileStatus.of(left), let right = try FileStatus.of(right) else {
        return false
      }
      return left.isSameFile(as: right)
    }
  }

  /// Makes one folder; never those above it, which are there while the library's mount is.
  private func make(_ folder: BytePath) throws(LibraryError) {
    try storing(folder) { () throws(SystemError) in
      do throws(SystemError) {
        try checked("mkdir", folder) { mkdir(folder.nulTerminated, 0o700) }
      } catch let error where error.errno == EEXIST {
        return
      }
    }
  }

  /// Removes a handoff's folder: two levels of folders and the links in them.
  private func remove(_ folder: BytePath) throws(LibraryError) {
    try storing(folder) { () throws(SystemError) in
      try store.faults.pass("library.end-grant")
      guard try FileStatus.of(folder)?.kind == .directory else {
        try DurableFile.unlink(folder)
        return
      }
      for number in try Directory.entries(of: folder) {
        let inner = folder.appending(number.name)
        guard number.kind == .directory else {
          try DurableFile.unlink(inner)
          continue
        }
        for entry in try Directory.entries(of: inner) {
          try DurableFile.unlink(inner.appending(entry.name))
        }
        try checked("rmdir", inner) { rmdir(inner.nulTerminated) }
      }
      try checked("rmdir", folder) { rmdir(folder.nulTerminated) }
    }
  }
}
