package import HandoffCore
package import HandoffProtocol
import SQLite

/// What reading an asset's object has shown.
package enum ObjectCondition: Hashable, Sendable {
  /// It is what its name says; its modification time in nanoseconds.
  case good(modified: Int64)
  case damaged
  /// The library is there, and the object is not in it.
  case missing
}

extension Ledger {
  /// Records what reading an object again has shown.
  ///
  /// A damaged object makes its asset `damaged`, a missing one `unavailable` (the event is
  /// `asset_missing`), a good one `present`. What was deleted meanwhile stays deleted.
  ///
  /// - Returns: the status that the asset had before.
  @discardableResult
  package func recordReading(
    of identifier: LocalIdentifier,
    _ condition: ObjectCondition
  ) async throws -> Asset.Status {
    try await write { transaction in
      guard let known = try transaction.assetKey(identifier),
        let before = Asset.Status(rawValue: known.status)
      else { throw LedgerError.unknownAsset(identifier) }
      if before != .deleted { try transaction.record(condition, of: known.row, before) }
      return before
    }
  }

  /// The moment that a note in `meta` has; nil where there is none.
  package func note(_ note: LedgerNote) async throws -> Timestamp? {
    try await readings.queue.read { connection in try CareQueries.read(note, connection) }
  }

  /// The id of the library whose assets these are; nil where it was never told.
  package func libraryID() async throws -> String? {
    try await readings.queue.read { connection in try CareQueries.readLibrary(connection) }
  }

  /// Writes down the id of the library whose assets these are.
  package func setLibraryID(_ id: String) async throws {
    try await write { transaction in
      _ = try transaction.connection.run(
        CareQueries.setNote,
        [.text(CareQueries.libraryID), .text(id)]
      )
    }
  }

  /// Writes or removes a note in `meta`.
  package func setNote(_ note: LedgerNote, _ moment: Timestamp?) async throws {
    try await write { transaction in try transaction.note(note, moment) }
  }
}

/// Moments that the ledger keeps beside its rows, by their names in `meta`.
package enum LedgerNote: String, Hashable, Sendable {
  /// The check of the library that was begun and has not ended.
  case checkBegan = "check_began"
  /// The last whole check of the library that has ended.
  case checkEnded = "check_ended"
  /// The ledger was lost and made again: what is older may have been handed off.
  case rebuilt = "rebuilt_at"
  /// A person has let the exports from before the rebuild be handed off.
  case resumed = "handoffs_resumed_at"
}

extension LedgerTransaction {
  func note(_ note: LedgerNote, _ moment: Timestamp?) throws {
    if let moment {
      let values: [Value] = [.text(note.rawValue), .integer(moment.milliseconds)]
      try connection.run(CareQueries.setNote, values)
    } else {
      try connection.run(CareQueries.clearNote, [.text(note.rawValue)])
    }
  }

  fileprivate func record(
    _ condition: ObjectCondition,
    of asset: Int64,
    _ before: Asset.Status
  ) throws {
    let (after, event, modified): (Asset.Status, String, Int64?) =
      switch condition {
      case .good(let modified): (.present, "asset_present", modified)
      case .damaged: (.damaged, "asset_damaged", nil)
      case .missing: (.unavailable, "asset_missing", nil)
      }
    try connection.run(
      CareQueries.recordReading,
      [.text(after.rawValue), .integer(now), .optional(modified), .integer(asset)]
    )
    guard after != before else { return }
    try record(
      Event(at: now, kind: event, asset: asset, from: before.rawValue, to: after.rawValue)
    )
    try tell(after, of: asset)
  }
}

enum CareQueries {
  fileprivate static let recordReading = SQL(
    "UPDATE assets SET status = ?1, verified_at = ?2, object_mtime_ns = ?3 WHERE id = ?4"
  )
  fileprivate static let setNote = SQL(
    "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2"
  )
  fileprivate static let clearNote = SQL("DELETE FROM meta WHERE name = ?1")
  private static let readNote = SQL("SELECT value FROM meta WHERE name = ?1")

  fileprivate static let libraryID = "library_id"

  fileprivate static func readLibrary(_ connection: Connection) throws -> String? {
    try connection.first(readNote, [.text(libraryID)]) { row in try row.text(0) }
  }

  static func read(_ note: LedgerNote, _ connection: Connection) throws -> Timestamp? {
    try connection.first(readNote, [.text(note.rawValue)]) { row in
      Timestamp(milliseconds: try row.integer(0))
    }
  }
}
