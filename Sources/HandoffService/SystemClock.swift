import Glibc
package import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// The one place that reads the system's clocks; everything else is given the moment.
package enum SystemClock {
  /// The present moment by CLOCK_REALTIME (clock_gettime(2)).
  package static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: milliseconds(time))
  }

  /// CLOCK_BOOTTIME, with the name of this start of the machine.
  static func boot() throws -> BootClock {
    let file = try FileDescriptor.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
    let id = String(decoding: try file.readAll(limit: 64), as: UTF8.self)
    return BootClock(boot: id.filter { !$0.isNewline }) {
      var time = timespec()
      clock_gettime(CLOCK_BOOTTIME, &time)
      return milliseconds(time)
    }
  }

  private static func milliseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
