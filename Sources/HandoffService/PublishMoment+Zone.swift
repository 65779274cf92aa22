import Glibc
import HandoffConfig
import HandoffProtocol

extension PublishMoment {
  /// The moment, with a local date and time read in the host's zone (localtime_r(3)).
  var inHostZone: Timestamp {
    timestamp { moment in
      var seconds = time_t(moment.milliseconds / 1000)
      var parts = tm()
      return localtime_r(&seconds, &parts) == nil ? 0 : parts.tm_gmtoff
    }
  }
}
