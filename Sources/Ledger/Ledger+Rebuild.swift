package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Puts assets back as their records have them, as one change; none of them may be known.
  ///
  /// Their sightings and links come with ``replay(_:)``. They count as used now, so that none is deleted
  /// by its age for something that only the former ledger knew.
  package func restore(_ assets: [Asset]) async throws {
    try await write { transaction in
      for asset in assets {
        guard try transaction.assetKey(asset.localIdentifier) == nil else {
          throw LedgerError.identifierCollision(asset.localIdentifier)
        }
        try transaction.restore(asset)
      }
    }
  }

  /// Tells the ledger once more where assets were seen, in the order in which they were, so that each
  /// path holds what it held last and every export that took a path supersedes the one before it.
  package func replay(_ sightings: [PastSighting]) async throws {
    try await write { transaction in
      for past in sightings {
        guard let known = try transaction.assetKey(past.asset) else {
          throw LedgerError.unknownAsset(past.asset)
        }
        try transaction.recordFirstSeen(past.sighting)
        let older = try transaction.see(past.sighting, asset: known.row)
        if let older, older != known.row {
          _ = try transaction.supersede(older, by: known.row, .both)
        }
      }
    }
  }

  /// Lets the numbers of handoffs begin after one, so that no receiver takes a new handoff for one of
  /// the former ledger.
  package func beginHandoffs(after row: Int64) async throws {
    try await write { transaction in
      try transaction.connection.run(RebuildQueries.forgetSequence)
      try transaction.connection.run(RebuildQueries.setSequence, [.integer(row)])
    }
  }
}

/// Where an asset was seen.
package struct PastSighting: Hashable, Sendable {
  package let asset: LocalIdentifier
  package let sighting: Sighting

  package init(asset: LocalIdentifier, sighting: Sighting) {
    self.asset = asset
    self.sighting = sighting
  }
}

extension LedgerReading {
  /// The number of the newest handoff that there has ever been; 0 for none.
  package func lastHandoffRow() async throws -> Int64 {
    try await readings.queue.read { connection in
      try connection.first(RebuildQueries.lastHandoff) { row in try row.integer(0) } ?? 0
    }
  }
}

extension LedgerTransaction {
  fileprivate func restore(_ asset: Asset) throws {
    let facts = asset.facts
    try connection.run(
      RebuildQueries.restoreAsset,
      [
        .text(asset.localIdentifier.text), .blob(asset.digest.bytes), .integer(asset.size),
        .text(facts.container), .text(facts.videoCodec), .integer(Int64(facts.width)),
        .integer(Int64(facts.height)), .integer(Int64(facts.rotation)), .real(facts.duration),
        .integer(Int64(facts.audioTracks)), .integer(asset.importedAt.milliseconds),
        .text(asset.status.rawValue), .integer(now),
      ]
    )
    let row = connection.lastInsertedRow
    try record(Event(at: now, kind: "rebuilt", asset: row, to: asset.status.rawValue))
    // When it was needed last is not known any more; an old one must not be deleted for that.
    try recordUse(of: row)
    if let acceptance = asset.acceptance { try accept(acceptance, asset: row) }
    for rendition in asset.renditions { try put(rendition, of: row) }
  }
}

private enum RebuildQueries {
  static let restoreAsset = SQL(
    """
    INSERT INTO assets (identifier, digest, size, container, video_codec, width, height, rotation,
      duration_s, audio_tracks, imported_at, status, used_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    """
  )
  static let forgetSequence = SQL("DELETE FROM sqlite_sequence WHERE name = 'handoffs'")
  static let setSequence = SQL(
    "INSERT INTO sqlite_sequence (name, seq) VALUES ('handoffs', ?1)"
  )
  static let lastHandoff = SQL("SELECT seq FROM sqlite_sequence WHERE name = 'handoffs'")
}
