import HandoffCore
import HandoffProtocol
import SQLite

/// What of a former ledger holds in the one that takes its place: what people have said of destinations, and
/// the places of quotas that are taken there.
package struct LedgerRemains: Sendable {
  fileprivate struct Allowance: Sendable {
    let asset: LocalIdentifier
    let destination: DestinationName
  }

  fileprivate struct Place: Sendable {
    let handoff: Int64
    let attempt: Int64
    let destination: String
    let at: Int64
  }

  fileprivate var pauses: [DestinationPause] = []
  fileprivate var allowances: [Allowance] = []
  fileprivate var places: [Place] = []

  /// Nothing.
  package init() {}
}

extension LedgerReading {
  /// What of this ledger holds in another that takes its place.
  package func remains() async throws -> LedgerRemains {
    try await readings.queue.read { connection in
      var remains = LedgerRemains()
      // A ledger that no newer release has opened yet has none.
      let version = try connection.schemaVersion()
      if version >= Schema.allowancesVersion {
        remains.allowances = try connection.rows(RemainQueries.allowances) { row in
          guard let asset = LocalIdentifier(try row.text(0)),
            let destination = DestinationName(try row.text(1))
          else { return nil }
          return LedgerRemains.Allowance(asset: asset, destination: destination)
        }.compactMap(\.self)
      }
      guard version >= Schema.waitsVersion else { return remains }
      remains.pauses = try connection.rows(PauseQueries.all, [], DestinationPause.init)
      remains.places = try connection.rows(RemainQueries.places) { row in
        LedgerRemains.Place(
          handoff: try row.integer(0),
          attempt: try row.integer(1),
          destination: try row.text(2),
          at: try row.integer(3)
        )
      }
      return remains
    }
  }
}

extension Ledger {
  /// Takes over what holds of the former ledger, as one change: nothing is handed off at a destination that a
  /// person had paused, and no quota begins anew.
  ///
  /// Allowances of assets that are not known any more are left out.
  ///
  /// - Parameter remains: of the former ledger, whose numbers of handoffs go on in this one.
  /// - Throws: where the ledger cannot be written; nothing has changed then.
  package func takeOver(_ remains: LedgerRemains) async throws {
    try await write { transaction in
      for pause in remains.pauses { try transaction.takeOver(pause) }
      for allowance in remains.allowances {
        guard let known = try transaction.assetKey(allowance.asset),
          known.status != Asset.Status.deleted.rawValue
        else { continue }
        _ = try transaction.allow(allowance.asset, allowance.destination)
      }
      for place in remains.places {
        try transaction.connection.run(
          RemainQueries.takePlace,
          [
            .integer(place.handoff), .integer(place.attempt), .text(place.destination),
            .integer(place.at),
          ]
        )
      }
    }
  }
}

extension LedgerTransaction {
  fileprivate func takeOver(_ pause: DestinationPause) throws {
    let written = try connection.run(
      PauseQueries.insert,
      [
        .text(pause.destination.text), .integer(pause.pausedAt.milliseconds),
        .optional(pause.pausedBy.map { Int64($0) }),
      ]
    )
    guard written > 0 else { return }
    try record(
      Event(
        at: now,
        kind: "paused",
        destination: pause.destination.text,
        detail: "as in the former ledger"
      )
    )
  }
}

private enum RemainQueries {
  static let allowances = SQL(
    """
    SELECT a.identifier, w.destination FROM allowances AS w JOIN assets AS a ON a.id = w.asset
    ORDER BY a.id, w.destination
    """
  )
  static let places = SQL("SELECT handoff, attempt, destination, at FROM quota_places")
  static let takePlace = SQL(
    """
    INSERT INTO quota_places (handoff, attempt, destination, at) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (handoff, attempt) DO UPDATE SET at = max (at, ?4)
    """
  )
}
