import HandoffCore
import LinuxSystem

extension FileIdentity {
  /// What tells whether a file is still the one that was looked at.
  init(_ status: FileStatus) {
    self.init(
      device: status.device,
      inode: status.inode,
      size: status.size,
      modified: status.modified,
      changed: status.changed
    )
  }
}
