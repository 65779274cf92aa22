import HandoffConfig
package import HandoffControl
package import HandoffCore
package import HandoffProtocol
import Ledger

/// What the configuration and the ledger tell of destinations without a broker.
extension LedgerQueries {
  /// Each configured destination, in the file's order, as far as that is known while no broker runs.
  package func destinationsWithoutBroker() async throws -> [DestinationReport] {
    let since = SystemClock.now().advanced(by: DestinationReport.lately)
    let waiting = try await ledger?.pendingCounts() ?? [:]
    let inFlight = try await ledger?.inFlightCounts() ?? [:]
    let successes = try await ledger?.successes(since: since) ?? [:]
    let pauses = try await ledger?.pauses() ?? []
    return configuration.destinations.map { settings in
      var report = DestinationReport(
        settings,
        status: "broker_down",
        containment: settings.containment.rawValue
      )
      report.inFlight = inFlight[settings.name] ?? 0
      report.waiting = waiting[settings.name] ?? 0
      report.take(successes[settings.name])
      report.detail = pauses.first { $0.destination == settings.name }
        .map(ControlQuestions.sentence)
      return report
    }
  }

  /// Handoffs that a destination's receiver can look at again: those that it was never asked about first.
  package func verifiable(
    at destination: DestinationName,
    since: Timestamp?,
    asset: LocalIdentifier?,
    limit: Int?
  ) async throws -> [(id: Handoff.ID, bytes: Int64)] {
    try await ledger?.verifiable(
      at: destination,
      since: since,
      asset: asset,
      limit: limit ?? .max
    ).map { ($0.id, $0.bytes) } ?? []
  }
}
