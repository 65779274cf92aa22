import HandoffConfig
import HandoffControl
import HandoffProtocol
import Ledger

/// Destinations whose receivers want nothing any more.
extension ControlQuestions {
  func stoppedDestinations() async throws -> [NeedsPerson] {
    try await ledger.stops().map { stop in
      .destination(StopReport(stop.destination, reason: stop.reason, stoppedAt: stop.stoppedAt))
    }
  }

  /// A person has one go on.
  func resume(_ parameters: DestinationParameters) async throws -> ResumeReport {
    guard let destination = DestinationName(parameters.destination),
      configuration.destination(destination) != nil
    else {
      throw ControlError(.notFound, "there is no destination \(parameters.destination)")
    }
    let wasStopped = try await ledger.resume(destination)
    if wasStopped { health.first { $0.name == destination }?.set(.up) }
    return ResumeReport(destination, resumed: wasStopped)
  }
}
