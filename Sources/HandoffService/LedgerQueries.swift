package import HandoffConfig
package import HandoffControl
package import HandoffCore
package import HandoffProtocol
import Ledger

/// Which handoffs to list; what is not set limits nothing.
package struct HandoffFilter: Sendable {
  package var status: HandoffStatus?
  package var destination: DestinationName?
  package var since: Timestamp?
  package var limit: Int?

  package init() {}
}

/// Reads the ledger for people and scripts, whether or not a broker runs.
///
/// Where there has never been a ledger, there is nothing in it.
package struct LedgerQueries: Sendable {
  let ledger: LedgerReader?
  let configuration: Configuration

  /// Opens the ledger of a configuration for reading.
  package static func open(_ configuration: Configuration) async throws -> LedgerQueries {
    do {
      let state = configuration.broker.state
      let ledger = try await Ledger.openForReading(directory: state)
      return LedgerQueries(ledger: ledger, configuration: configuration)
    } catch LedgerError.missing {
      return LedgerQueries(ledger: nil, configuration: configuration)
    }
  }

  /// All assets, in the order of their import.
  package func assets() async throws -> [AssetReport] {
    try await ledger?.assets().map(AssetReport.init) ?? []
  }

  package func asset(_ identifier: LocalIdentifier) async throws -> AssetReport? {
    try await ledger?.asset(identifier).map(AssetReport.init)
  }

  package func handoff(_ id: Handoff.ID) async throws -> HandoffReport? {
    guard let ledger, let handoff = try await ledger.handoff(id) else { return nil }
    var report = HandoffReport(handoff, under: configuration)
    let notices = try await ledger.notices(of: id)
    if !notices.isEmpty { report.notices = notices.map(NoticeReport.init) }
    let late = try await ledger.lateResults(of: id)
    if !late.isEmpty { report.lateResultList = late.map(LateResultReport.init) }
    return report
  }

  /// Newest first.
  package func handoffs(_ filter: HandoffFilter) async throws -> [HandoffReport] {
    let handoffs = try await ledger?.handoffs(
      status: filter.status,
      destination: filter.destination,
      since: filter.since,
      limit: filter.limit ?? .max
    )
    return handoffs?.map { HandoffReport($0, under: configuration) } ?? []
  }

  /// All that have not ended, newest first.
  package func openHandoffs() async throws -> [HandoffReport] {
    try await handoffs(HandoffFilter()).filter { !$0.status.isFinal }
  }
}
