import CLinux

/// Who goes first at the disk, where its scheduler knows that.
package enum DiskPriority {
  /// Puts the calling thread into the disk's idle class, or back; see ioprio_set(2).
  package static func setIdle(_ isIdle: Bool) {
    // Advice only: nothing depends on whether it is taken.
    _ = clinux_idle_disk_priority(isIdle ? 1 : 0)
  }
}
