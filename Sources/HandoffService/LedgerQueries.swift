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
  /// How the running broker's destinations are; nil where none runs.
  let broker: [String: DestinationStanding]?

  /// Opens the ledger of a configuration for reading.
  ///
  /// - Parameters:
  ///   - configuration: whose state folder has the ledger.
  ///   - broker: what the running broker says of its destinations, by their names; nil where none runs.
  /// - Returns: what answers, also where there has never been a ledger.
  /// - Throws: what the ledger says.
  package static func open(
    _ configuration: Configuration,
    broker: [String: DestinationStanding]? = nil
  ) async throws -> LedgerQueries {
    do {
      let state = configuration.broker.state
      let ledger = try await Ledger.openForReading(directory: state)
      return LedgerQueries(ledger: ledger, configuration: configuration, broker: broker)
    } catch LedgerError.missing {
      return LedgerQueries(ledger: nil, configuration: configuration, broker: broker)
    }
  }

  private func standings(_ ledger: LedgerReader) async throws -> [DestinationName:
    DestinationStanding]
  {
    guard let broker else {
      return try await ledger.standings(under: configuration, at: SystemClock.now())
    }
    let named = broker.compactMap { name, standing in
      DestinationName(name).map { ($0, standing) }
    }
    return Dictionary(named) { first, _ in first }
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
    let standings = try await standings(ledger)
    var report = HandoffReport(handoff, under: standings, at: SystemClock.now())
    let hasBroker = broker != nil
    try await report.complete(handoff, from: ledger, under: standings, hasBroker: hasBroker)
    let notices = try await ledger.notices(of: id)
    if !notices.isEmpty { report.notices = notices.map(NoticeReport.init) }
    let late = try await ledger.lateResults(of: id)
    if !late.isEmpty { report.lateResultList = late.map(LateResultReport.init) }
    return report
  }

  /// Newest first.
  package func handoffs(_ filter: HandoffFilter) async throws -> [HandoffReport] {
    guard let ledger else { return [] }
    let handoffs = try await ledger.handoffs(
      status: filter.status,
      destination: filter.destination,
      since: filter.since,
      limit: filter.limit ?? .max
    )
    let standings = try await standings(ledger)
    let now = SystemClock.now()
    return handoffs.map { HandoffReport($0, under: standings, at: now) }
  }

  /// All that have not ended, newest first.
  package func openHandoffs() async throws -> [HandoffReport] {
    try await handoffs(HandoffFilter()).filter { !$0.status.isFinal }
  }
}
