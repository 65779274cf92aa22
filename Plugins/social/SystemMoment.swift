import Glibc
import HandoffProtocol

/// The present moment, for what is recorded and for limits that a service tells as moments.
enum SystemMoment {
  static func now() -> Timestamp {
    var time = timespec()
    // CLOCK_REALTIME always exists, so the call cannot fail.
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
