import HandoffProtocol
import Paths

extension FileIdentity {
  /// The file lay in its folder when that was seen for the first time, so the box counts as not ticked.
  ///
  /// With a sidecar the inode's change time decides: nobody can set it, and a move into the folder
  /// renews it. Where only the folder's default would tick the box, its content must be newer too, so
  /// that a changed mode or name publishes nothing that was there.
  func wasThere(at firstSeen: Timestamp, cameByRename: Bool, hasSidecar: Bool) -> Bool {
    if !hasSidecar, modified / 1_000_000 <= firstSeen.milliseconds { return true }
    return !cameByRename && changed / 1_000_000 <= firstSeen.milliseconds
  }

  /// It was finished so long before it was found that it gives way to new exports: the broker was not
  /// there, or did not see it.
  ///
  /// The inode's change time decides, which nobody can set: a copy and a rename make a file new.
  func isBackfill(at now: Timestamp) -> Bool {
    changed / 1_000_000 < now.advanced(by: .seconds(-3600)).milliseconds
  }
}
