import CLinux
import Glibc
package import Paths

/// Where file systems are mounted.
package enum MountPoint {
  /// The deepest folder at or above a path on which something is mounted, symbolic links resolved; nil
  /// if that is `/`.
  package static func above(_ path: BytePath) throws(SystemError) -> BytePath? {
    var place = try Directory.canonical(path)
    while !place.parent.isEmpty, place != "/" {
      if try number(place) != number(place.parent) { return place }
      place = place.parent
    }
    return nil
  }

  /// Something is mounted on the folder, bind mounts included; false too if it is not there.
  package static func isMounted(_ path: BytePath) throws(SystemError) -> Bool {
    do {
      return try number(path) != number(path.appending(".."))
    } catch  where error.errno == ENOENT || error.errno == ENOTDIR {
      return false
    }
  }

  /// A number that tells mounts apart; see statx(2), `STATX_MNT_ID`.
  private static func number(_ path: BytePath) throws(SystemError) -> UInt64 {
    var number: UInt64 = 0
    try checked("statx", path) { clinux_mount_number(path.nulTerminated, &number) }
    return number
  }
}
