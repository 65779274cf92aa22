import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

extension LocalStore {
  /// `O_TMPFILE` of open(2): a file without a name, which is gone when it is closed.
  private static let nameless: CInt = 0o20_200_000

  func checks() async -> [DestinationCheck] {
    await BlockingThread("archive.checks").run { Self.checks(folder) }
  }

  private static func checks(_ folder: BytePath) -> [DestinationCheck] {
    do {
      var place = folder
      while try FileStatus.of(place, following: true) == nil, place != place.parent,
        !place.parent.isEmpty
      {
        place = place.parent
      }
      let folderCheck = try folderCheck(folder, existing: place)
      guard folderCheck.passed else { return [folderCheck] }
      return [folderCheck, writableCheck(place), try spaceCheck(place), try systemCheck(place)]
    } catch {
      return [DestinationCheck("folder", passed: false, "\(error)")]
    }
  }

  private static func folderCheck(
    _ folder: BytePath,
    existing: BytePath
  ) throws(SystemError) -> DestinationCheck {
    guard try FileStatus.of(existing, following: true)?.kind == .directory else {
      return DestinationCheck(
        "folder",
        passed: false,
        "\(existing.displayText) is no folder",
        remedy: "Set settings.folder to a folder, or to one that can be made."
      )
    }
    guard existing == folder || existing == folder.parent else {
      return DestinationCheck(
        "folder",
        passed: false,
        "\(folder.parent.displayText) is not there",
        remedy: "Make it, or mount what belongs there: only the archive's own folder is made."
      )
    }
    let detail =
      existing == folder
      ? "\(folder.displayText) is there"
      : "\(folder.displayText) will be made in \(existing.displayText)"
    return DestinationCheck("folder", passed: true, detail)
  }

  /// Writes into files without a name, so that nothing is left whatever happens.
  private static func writableCheck(_ place: BytePath) -> DestinationCheck {
    do throws(SystemError) {
      let file = try FileDescriptor.open(place, nameless | O_RDWR)
      try file.write([UInt8](repeating: 0, count: 4096))
      let twin = try FileDescriptor.open(place, nameless | O_RDWR)
      let shares = try canClone(file, to: twin)
      let detail =
        shares
        ? "it can be written, and copies of files on the same file system share their bytes"
        : "it can be written; every copy takes its own space"
      return DestinationCheck("writable", passed: true, detail)
    } catch {
      let isUntold = [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.errno)
      if isUntold, faccessat(AT_FDCWD, place.nulTerminated, W_OK | X_OK, AT_EACCESS) == 0 {
        return DestinationCheck("writable", passed: true, "its permissions allow writing")
      }
      return DestinationCheck(
        "writable",
        passed: false,
        "\(error)",
        remedy: "Let the destination write there: its `write` list, and the folder's permissions."
      )
    }
  }

  private static func canClone(
    _ file: FileDescriptor,
    to twin: FileDescriptor
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try DurableFile.clone(from: file, to: twin)
      return true
    } catch {
      guard ArchiveCopy.cannotShare(error) else { throw error }
      return false
    }
  }

  private static func spaceCheck(_ place: BytePath) throws(SystemError) -> DestinationCheck {
    var space = statvfs()
    try checked("statvfs", place) { statvfs(place.nulTerminated, &space) }
    let free = Int64(clamping: space.f_bavail.multipliedFullWidth(by: UInt(space.f_frsize)).low)
    return DestinationCheck(
      "space",
      passed: free > 0,
      "\(free >> 20) MiB are free",
      remedy: free > 0 ? nil : "Make room, or let the archive go elsewhere."
    )
  }

  private static func systemCheck(_ place: BytePath) throws(SystemError) -> DestinationCheck {
    let kind = try FileDescriptor.open(place, O_RDONLY | O_DIRECTORY).fileSystem()
    let detail =
      kind.networkName.map { "it is on \($0): copies are written whole, then read back" }
      ?? "it is on a local file system"
    return DestinationCheck("file_system", passed: true, detail)
  }
}
