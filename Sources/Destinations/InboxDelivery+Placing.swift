import Glibc
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

/// Names appear in the inbox only here.
extension InboxDelivery {
  func isFree(_ name: BytePath, _ folder: InboxFolder) throws(ResultError) -> Bool {
    try inInbox { () throws(SystemError) in
      guard try folder.isFree(name) else { return false }
      if assets.count > 1 { return true }
      return try folder.isFree(InboxName.manifest(of: name))
    }
  }

  /// False where somebody took the name meanwhile.
  func place(
    _ name: BytePath,
    _ staging: FileDescriptor,
    _ folder: InboxFolder
  ) throws(ResultError) -> Bool {
    let manifest = InboxName.manifest(of: name)
    if assets.count == 1 {
      guard try move(InboxFolder.manifest, staging, manifest, folder) else { return false }
    }
    do throws(ResultError) {
      try inInbox { () throws(SystemError) in try FaultPlan.current.pass("inbox.place") }
      guard try move(InboxFolder.content, staging, name, folder) else {
        withdraw(manifest, folder)
        return false
      }
    } catch {
      withdraw(manifest, folder)
      throw error
    }
    // It is there from here on, whatever this says; the next start looks again.
    logger.logged("The names in an inbox may not be on the disk yet.") {
      try FaultPlan.current.pass("inbox.placed")
      try folder.folder.sync()
    }
    return true
  }

  private func move(
    _ from: BytePath,
    _ staging: FileDescriptor,
    _ name: BytePath,
    _ folder: InboxFolder
  ) throws(ResultError) -> Bool {
    try inInbox { () throws(SystemError) in
      do throws(SystemError) {
        try DurableFile.renameNoReplace(from, in: staging, to: name, in: folder.folder)
        return true
      } catch let error where error.errno == EEXIST {
        return false
      }
    }
  }

  /// Takes the manifest away again that came before its video.
  private func withdraw(_ manifest: BytePath, _ folder: InboxFolder) {
    guard assets.count == 1 else { return }
    logger.logged("A manifest without its video is left in an inbox.") {
      try DurableFile.unlink(manifest, in: folder.folder)
    }
  }
}
