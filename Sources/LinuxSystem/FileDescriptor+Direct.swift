import CLinux
import Glibc

extension FileDescriptor {
  /// Turns `O_DIRECT` on or off: what is read then comes from the device and not from memory, what is
  /// written takes no memory.
  ///
  /// Offsets, sizes and memory have to be aligned to the device's blocks (4096 does) while it is on; only the
  /// last read may be cut short by the end of the file. See open(2).
  ///
  /// - Returns: false where the file system cannot.
  package func setDirect(_ isDirect: Bool) throws(SystemError) -> Bool {
    do {
      try checked("fcntl F_SETFL") { clinux_set_direct(rawValue, isDirect ? 1 : 0) }
      return true
    } catch  where error.errno == EINVAL || error.errno == EOPNOTSUPP {
      return false
    }
  }

  /// Takes the room on the disk for a whole file, and gives it that size, in bytes.
  ///
  /// `ENOSPC` if there is not as much; see fallocate(2).
  ///
  /// - Returns: false where the file system cannot.
  package func allocate(_ size: Int64) throws(SystemError) -> Bool {
    do {
      try checked("fallocate") { clinux_allocate(rawValue, size) }
      return true
    } catch  where error.errno == EOPNOTSUPP || error.errno == ENOSYS {
      return false
    }
  }
}
