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

  /// The moment, found with how many seconds the host's zone is ahead of UTC at a local time.
  ///
  /// The zone is asked with the moment that the local time would be in UTC.
  package func timestamp(secondsEast: (Timestamp) -> Int) -> Timestamp {
    switch self {
    case .moment(let moment): moment
    case .local(let moment): moment.advanced(by: .seconds(-secondsEast(moment)))
    }
  }
}
