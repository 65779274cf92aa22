import Glibc

extension FileDescriptor {
  /// Writes all bytes at an offset, in bytes, without moving the file position.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try checked("pwrite") {
        pwrite(
          rawValue,
          bytes.baseAddress?.advanced(by: written),
          bytes.count - written,
          off_t(offset) + off_t(written)
        )
      }
    }
  }

  /// Cuts or extends the file to a size in bytes; what is added is a hole.
  package func setSize(_ size: Int64) throws(SystemError) {
    try checked("ftruncate") { ftruncate(rawValue, off_t(size)) }
  }

  /// Sets the permission bits; see fchmod(2).
  package func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try checked("fchmod") { fchmod(rawValue, mode_t(permissions)) }
  }

  /// Sets owner and group; see fchown(2).
  package func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
    try checked("fchown") { fchown(rawValue, uid_t(owner), gid_t(group)) }
  }

  /// Tells the kernel that the file is read from start to end, once; see posix_fadvise(2).
  package func adviseSequential() {
    // Advice only: nothing depends on whether it is taken.
    _ = posix_fadvise(rawValue, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  /// Tells the kernel that the file's pages need not stay in memory; see posix_fadvise(2).
  package func adviseDone() {
    // Advice only: nothing depends on whether it is taken.
    _ = posix_fadvise(rawValue, 0, 0, POSIX_FADV_DONTNEED)
  }
}
