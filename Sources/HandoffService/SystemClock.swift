import Glibc
package import HandoffProtocol

/// The one place that reads the wall clock; everything else is given the moment.
package enum SystemClock {
  /// The present moment by CLOCK_REALTIME (clock_gettime(2)).
  package static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
