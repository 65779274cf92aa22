import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// Moves a source to another folder if its name still leads to the inode that was imported.
///
/// On the same file system a rename without replacing, looked at afterwards; to another one a copy that
/// is digested, synced and named before the source is removed.
struct SourceMove: Sendable {
  let path: BytePath
  let identity: FileIdentity
  let digest: ContentDigest
  let folder: BytePath

  func run() throws(LibraryError) -> BytePath? {
    guard try reading(path, { () throws(SystemError) in try identity.isOf(path) }) else {
      return nil
    }
    do throws(SystemError) {
      let target = try giveName(to: path)
      if try identity.isOf(target) {
        try Directory.sync(folder)
        try Directory.sync(path.parent.isEmpty ? "." : path.parent)
        return target
      }
      // Another export took the name after the look: it goes back.
      try DurableFile.renameNoReplace(target, to: path)
      return nil
    } catch let error where error.errno == EXDEV {
      return try copyAcross()
    } catch let error where error.errno == ENOENT {
      guard try reading(folder, { () throws(SystemError) in try FileStatus.of(folder) }) == nil
      else { return nil }
      throw LibraryError(reading: error, from: folder)
    } catch {
      throw LibraryError(reading: error, from: path)
    }
  }

  /// Renames a file into the folder under the first name that is free.
  private func giveName(to file: BytePath) throws(SystemError) -> BytePath {
    for number in 1... {
      let target = folder.appending(Self.numbered(path.lastComponent, number))
      do throws(SystemError) {
        try DurableFile.renameNoReplace(file, to: target)
        return target
      } catch let error where error.errno == EEXIST && number < 10_000 {
        continue
      }
    }
    throw SystemError(EEXIST, "renameat2", folder)
  }

  /// `clip.mp4`, `clip~2.mp4`, `clip~3.mp4` …, cut to the 255 bytes of a name.
  static func numbered(_ name: BytePath, _ number: Int) -> BytePath {
    guard number > 1 else { return name }
    let stem = name.stem.bytes
    let rest = Array("~\(number)".utf8) + name.bytes[stem.count...]
    var kept = stem.prefix(max(1, Int(NAME_MAX) - rest.count))
    // Not in the middle of a character, where the name is UTF-8.
    while kept.count > 1, kept.count < stem.count, stem[kept.count] & 0xC0 == 0x80 {
      kept.removeLast()
    }
    return BytePath(kept + rest)
  }

  private func copyAcross() throws(LibraryError) -> BytePath? {
    let temporary = folder.appending(".handoff-move-\(StoreLayout.randomDigits())")
    var made = temporary
    do throws(LibraryError) {
      made = try copy(to: temporary)
      // False: a new export has the name, and stays; what was imported is in the folder all the same.
      _ = try SourceRemoval(path: path, identity: identity).run()
      return made
    } catch {
      // The first failure is the one to tell. The source is still where it was.
      _ = unlink(made.nulTerminated)
      throw error
    }
  }

  private func copy(to temporary: BytePath) throws(LibraryError) -> BytePath {
    let source = try reading(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    let status = try reading(path) { () throws(SystemError) in try source.status() }
    guard status.identity.hasSameContent(as: identity) else {
      throw LibraryError(.sourceChanged, path)
    }
    let file = try storing(temporary) { () throws(SystemError) in
      try FileDescriptor.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }
    let pass = ReadPass(source: source, path: path, size: identity.size)
    let found = try pass.digest(
      copyingTo: ReadPass.Target(file: file, path: temporary, faults: .current)
    )
    guard found == digest else { throw LibraryError(.sourceChanged, path) }
    return try storing(temporary) { () throws(SystemError) in
      try file.setPermissions(status.permissions)
      try file.sync()
      let target = try giveName(to: temporary)
      try Directory.sync(folder)
      return target
    }
  }
}
