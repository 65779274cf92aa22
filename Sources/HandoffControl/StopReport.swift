package import HandoffProtocol

/// A destination whose receiver wants nothing any more, until a person or a changed address lifts that.
package struct StopReport: Codable, Sendable {
  /// `destination_stopped`.
  package var kind = Self.kind
  package var destination: DestinationName
  package var reason: String
  package var stoppedAt: Timestamp

  static let kind = "destination_stopped"

  package init(_ destination: DestinationName, reason: String, stoppedAt: Timestamp) {
    self.destination = destination
    self.reason = reason
    self.stoppedAt = stoppedAt
  }

  private enum CodingKeys: String, CodingKey {
    case kind
    case destination
    case reason
    case stoppedAt = "stopped_at"
  }
}

/// The parameters of `pause` and `resume`: one destination.
package struct DestinationParameters: Codable, Sendable {
  package var destination: String

  package init(destination: String) {
    self.destination = destination
  }
}

/// The answer to `resume`.
package struct ResumeReport: Codable, Sendable {
  package var destination: DestinationName
  /// It was paused or stopped.
  package var resumed: Bool

  package init(_ destination: DestinationName, resumed: Bool) {
    self.destination = destination
    self.resumed = resumed
  }
}

/// The answer to `pause`.
package struct PauseReport: Codable, Sendable {
  package var destination: DestinationName
  /// It is now.
  package var paused = true
  /// It was before.
  package var wasPaused: Bool

  package init(_ destination: DestinationName, wasPaused: Bool) {
    self.destination = destination
    self.wasPaused = wasPaused
  }

  private enum CodingKeys: String, CodingKey {
    case destination
    case paused
    case wasPaused = "was_paused"
  }
}
