import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

/// Destinations whose receivers want nothing any more, and those that are gone.
extension ControlQuestions {
  func stoppedDestinations() async throws -> [NeedsPerson] {
    try await ledger.stops().map { stop in
      .destination(StopReport(stop.destination, reason: stop.reason, stoppedAt: stop.stoppedAt))
    }
  }

  /// Handoffs that wait for destinations which the configuration does not have any more.
  ///
  /// - Parameter waiting: how many wait for each destination.
  /// - Returns: the newest of each.
  /// - Throws: where the ledger cannot be read.
  func waitingForUnknownDestinations(
    _ waiting: [DestinationName: Int]
  ) async throws -> [Handoff] {
    var handoffs: [Handoff] = []
    for name in waiting.keys.sorted(by: { $0.text < $1.text })
    where configuration.destination(name) == nil {
      handoffs += try await ledger.handoffs(status: .pending, destination: name, limit: 100)
    }
    return handoffs
  }

  /// A person has one go on.
  func resume(
    _ parameters: DestinationParameters,
    from peer: ControlPeer
  ) async throws -> ResumeReport {
    let destination = try destination(parameters)
    let wasGone = try await ledger.stop(of: destination) != nil
    let wasStopped = try await ledger.resume(destination, by: peer.user)
    if wasGone { health.first { $0.name == destination }?.set(.up) }
    return ResumeReport(destination, resumed: wasStopped)
  }

  /// A person has nothing new submitted to one.
  func pause(
    _ parameters: DestinationParameters,
    from peer: ControlPeer
  ) async throws -> PauseReport {
    let destination = try destination(parameters)
    return PauseReport(
      destination,
      wasPaused: try await !ledger.pause(destination, by: peer.user)
    )
  }

  private func destination(_ parameters: DestinationParameters) throws -> DestinationName {
    guard let destination = DestinationName(parameters.destination),
      configuration.destination(destination) != nil
    else {
      throw ControlError(.notFound, "there is no destination \(parameters.destination)")
    }
    return destination
  }
}
