package import HandoffProtocol

/// When a sender wants a video published: a moment, or a local date and time whose moment depends on
/// the zone of the host.
package enum PublishMoment: Hashable, Sendable {
  case moment(Timestamp)
  /// The moment it would be in UTC.
  case local(Timestamp)

  /// Reads `2026-12-24T18:00:00`, with or without an offset.
  package init?(_ text: String) {
    if let moment = Timestamp(rfc3339: text) {
      self = .moment(moment)
    } else if let moment = Timestamp(rfc3339: text + "Z") {
      self = .local(moment)
    } else {
      return nil
    }
  }

  init?(_ node: TOMLNode) {
    switch node.content {
    case .dateTime(let text), .string(let text): self.init(text)
    default: return nil
    }
  }

  /// The moment, found with how many seconds the host's zone is ahead of UTC at a moment.
  ///
  /// A local time that comes twice, since clocks are put back, is the later of the two, and one that is
  /// left out, since they are put forward, is as long after the gap as it lies in it: too late is better
  /// than too early for what may not be seen before.
  package func timestamp(secondsEast: (Timestamp) -> Int) -> Timestamp {
    let local: Timestamp
    switch self {
    case .moment(let moment): return moment
    case .local(let moment): local = moment
    }
    // Zones change far less often than every second day.
    let day = Duration.seconds(86_400)
    let offsets = [-1, 1].map { secondsEast(local.advanced(by: day * $0)) }
    let moments = offsets.map { (offset: $0, moment: local.advanced(by: .seconds(-$0))) }
    let valid = moments.filter { secondsEast($0.moment) == $0.offset }
    return (valid.isEmpty ? moments : valid).map(\.moment).max() ?? local
  }
}
