import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// Finds out after a crash what became of a delivery into an inbox, and takes away what is left of it.
///
/// Blocks. The staging folder stays until the ledger has the result, so what it lacks was placed, even
/// where the inbox's reader has taken it away since.
struct InboxRecovery {
  /// As it is configured now; a delivery's own may have been another.
  let inbox: BytePath
  let journals: BytePath

  /// What became of a delivery.
  func standing(of handoff: String) -> FileReceiver.Standing {
    do {
      guard let journal = try DeliveryJournal.read(handoff, in: journals), journal.name != nil
      else {
        return .notDelivered
      }
      let folder = try InboxFolder(existing: journal.inbox ?? inbox)
      guard try FileStatus.of(journal.staging, in: folder.folder) != nil else {
        return .unknown("what was staged in the inbox is gone")
      }
      let staging = try folder.open(journal.staging, in: folder.folder)
      let isStaged = try FileStatus.of(InboxFolder.content, in: staging) != nil
      return isStaged ? .notDelivered : .delivered(journal.output)
    } catch {
      return .unknown("the inbox cannot be looked at: \(error)")
    }
  }

  /// Removes what is left of a delivery: nothing that was placed.
  func clear(_ handoff: String) throws {
    if let journal = try DeliveryJournal.read(handoff, in: journals) {
      let folder = try InboxFolder(existing: journal.inbox ?? inbox)
      try clear(journal, folder)
      try folder.folder.sync()
    }
    try DeliveryJournal.remove(handoff, in: journals)
  }

  private func clear(_ journal: DeliveryJournal, _ folder: InboxFolder) throws {
    guard try FileStatus.of(journal.staging, in: folder.folder) != nil else { return }
    let staging = try folder.open(journal.staging, in: folder.folder)
    if let name = journal.name, journal.hasManifestBeside,
      try FileStatus.of(InboxFolder.content, in: staging) != nil,
      try FileStatus.of(InboxFolder.manifest, in: staging) == nil
    {
      // The manifest came before its video, and the video did not come.
      try DurableFile.unlink(InboxName.manifest(of: name), in: folder.folder)
    }
    try folder.remove(journal.staging, in: folder.folder)
  }
}
