import HandoffProtocol

/// A publication that may have happened, and what is known of it.
struct Doubt: Sendable {
  let prepared: JSONValue
  /// When it may first have been published; long ago where that moment is still to come, since the clock was
  /// wrong then.
  let since: Timestamp
  /// Why it may have been published; nil where it certainly was not.
  var reason: String?
  /// When the last request may have gone out that has no answer.
  private(set) var lastSent: ContinuousClock.Instant?

  init(_ prepared: JSONValue, since: Timestamp, reason: String?) {
    self.prepared = prepared
    self.since = since <= SystemMoment.now() ? since : Timestamp(milliseconds: 0)
    self.reason = reason
    // An earlier process may have died a moment ago.
    lastSent = reason == nil ? nil : .now
  }

  /// A request has gone out, and nobody knows what became of it.
  mutating func sent(_ reason: String) {
    self.reason = reason
    lastSent = .now
  }
}
