import HandoffCore
import HandoffProtocol
import Paths
import SQLite

extension LedgerTransaction {
  /// The row of an asset, made unless it is known, present from now on.
  func place(_ asset: Asset, _ known: AssetKey?) throws -> Int64 {
    if let known {
      if known.status != Asset.Status.present.rawValue { try setStatus(.present, of: known.row) }
      return known.row
    }
    let facts = asset.facts
    try connection.run(
      Self.insertAsset,
      [
        .text(asset.localIdentifier.text), .blob(asset.digest.bytes), .integer(asset.size),
        .text(facts.container), .text(facts.videoCodec), .integer(Int64(facts.width)),
        .integer(Int64(facts.height)), .integer(Int64(facts.rotation)), .real(facts.duration),
        .integer(Int64(facts.audioTracks)), .integer(asset.importedAt.milliseconds),
        .text(Asset.Status.present.rawValue),
      ]
    )
    let row = connection.lastInsertedRow
    try record(Event(at: now, kind: "imported", asset: row))
    return row
  }

  func setStatus(_ status: Asset.Status, of asset: Int64) throws {
    try connection.run(Self.updateStatus, [.text(status.rawValue), .integer(asset)])
    try record(Event(at: now, kind: "asset_\(status.rawValue)", asset: asset))
    try tell(status, of: asset)
  }

  /// Records where an asset was seen, and returns the asset that the path held before.
  ///
  /// What a drop folder saw stays as it saw it when the same is imported by hand: the folder tells by
  /// it what it has taken.
  func see(_ sighting: Sighting, asset: Int64) throws -> Int64? {
    let path = Value.blob(sighting.path.bytes)
    let older = try connection.first(Self.findLatest, [path]) { row in try row.integer(0) }
    if let older, older != asset { try connection.run(Self.endLatest, [path]) }
    let identity = sighting.identity
    let written = try connection.run(
      Self.upsertSighting,
      [
        path, .blob(sighting.folder.bytes), .integer(Int64(bitPattern: identity.device)),
        .integer(Int64(bitPattern: identity.inode)), .integer(identity.size),
        .integer(identity.modified), .integer(identity.changed),
        .integer(sighting.seenAt.milliseconds), .integer(asset),
        .blob(Sighting.byHand.bytes),
      ]
    )
    if written == 0 { try connection.run(Self.markLatest, [path, .integer(asset)]) }
    return older
  }

  /// Links an older asset to the one that took its path, and returns the older one's identifier.
  ///
  /// An export that returns to an earlier content turns the link round: none supersedes itself, and
  /// what was held of that content goes on.
  func supersede(_ older: Int64, by newer: Int64, holding: Bool) throws -> LocalIdentifier? {
    try connection.run(Self.linkNewer, [.integer(older), .integer(newer)])
    try connection.run(Self.linkOlder, [.integer(newer), .integer(older)])
    try record(Event(at: now, kind: "superseded", asset: older))
    if holding { try touchRows(Self.hold, [.integer(older)]) }
    try touchRows(Self.letGo, [.integer(newer), .integer(now)])
    let text = try connection.first(Self.identifierOfAsset, [.integer(older)]) { row in
      try row.text(0)
    }
    return text.flatMap { LocalIdentifier($0) }
  }

  /// Runs a statement that returns the destinations of what it has changed.
  private func touchRows(_ sql: SQL, _ values: [Value]) throws {
    for destination in try connection.rows(sql, values, { row in try row.text(0) }) {
      touch(destination)
    }
  }

  func consume(_ sidecar: ConsumedSidecar, asset: Int64) throws {
    try connection.run(
      Self.insertSidecar,
      [
        .blob(sidecar.path.bytes), .integer(Int64(bitPattern: sidecar.identity.device)),
        .integer(Int64(bitPattern: sidecar.identity.inode)), .integer(sidecar.identity.size),
        .integer(sidecar.identity.modified), .integer(sidecar.identity.changed), .integer(asset),
        .integer(now),
      ]
    )
  }

  /// Makes a handoff of an import; nil where it was ever ordered automatically, or has been handed off
  /// by hand and has succeeded or may still.
  func orderIfMissing(_ prepared: PreparedOrder) throws -> Handoff.ID? {
    if try handoff(sameAs: prepared) != nil { return nil }
    let assets = try presentAssets(prepared.order.localIdentifiers)
    if prepared.order.isAutomatic, let first = assets.first {
      let destination = prepared.order.destination
      if try hasAutomaticHandoff(first, destination) { return nil }
      if try standing(assets, destination) != nil { return nil }
    }
    return try insert(prepared, assets: assets).handoffID
  }

  private static let insertAsset = SQL(
    """
    INSERT INTO assets (identifier, digest, size, container, video_codec, width, height, rotation,
      duration_s, audio_tracks, imported_at, status)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    """
  )
  private static let updateStatus = SQL("UPDATE assets SET status = ?1 WHERE id = ?2")
  private static let findLatest = SQL("SELECT asset FROM sightings WHERE path = ?1 AND latest = 1")
  private static let endLatest = SQL(
    "UPDATE sightings SET latest = 0 WHERE path = ?1 AND latest = 1"
  )
  private static let upsertSighting = SQL(
    """
    INSERT INTO sightings (path, folder, device, inode, size, mtime_ns, ctime_ns, seen_at, asset,
      latest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1)
    ON CONFLICT (asset, path) DO UPDATE SET folder = ?2, device = ?3, inode = ?4, size = ?5,
      mtime_ns = ?6, ctime_ns = ?7, seen_at = ?8, latest = 1
    WHERE ?2 <> ?10 OR folder = ?10
    """
  )
  private static let markLatest = SQL(
    "UPDATE sightings SET latest = 1 WHERE path = ?1 AND asset = ?2"
  )
  private static let linkNewer = SQL(
    """
    UPDATE assets SET supersedes = ?1, superseded_by = NULL WHERE id = ?2
    """
  )
  private static let linkOlder = SQL(
    """
    UPDATE assets SET superseded_by = ?1, supersedes = nullif (supersedes, ?1) WHERE id = ?2
    """
  )
  // What an attempt has claimed or sent goes on, and is held if it comes back with nothing done.
  private static let hold = SQL(
    """
    UPDATE handoffs SET is_superseded = 1,
      waiting_reason = iif (status = 'pending', 'superseded', waiting_reason),
      waiting_until = iif (status = 'pending', NULL, waiting_until),
      due_at = iif (status = 'pending', NULL, due_at)
    WHERE finished_at IS NULL AND id IN (SELECT handoff FROM handoff_assets WHERE asset = ?1)
    RETURNING destination
    """
  )
  private static let letGo = SQL(
    """
    UPDATE handoffs SET is_superseded = 0,
      waiting_reason = iif (waiting_reason IS NOT 'superseded', waiting_reason,
        iif (publish_at > ?2, 'publish_at', NULL)),
      waiting_until = iif (waiting_reason IS NOT 'superseded', waiting_until,
        iif (publish_at > ?2, publish_at, NULL)),
      due_at = iif (waiting_reason IS NOT 'superseded', due_at, max (?2, ifnull (publish_at, 0)))
    WHERE is_superseded = 1 AND finished_at IS NULL
      AND id IN (SELECT handoff FROM handoff_assets WHERE asset = ?1)
      AND NOT EXISTS (
        SELECT 1 FROM handoff_assets AS ha JOIN assets AS a ON a.id = ha.asset
        WHERE ha.handoff = handoffs.id AND a.superseded_by IS NOT NULL)
    RETURNING destination
    """
  )
  private static let identifierOfAsset = SQL("SELECT identifier FROM assets WHERE id = ?1")
  private static let insertSidecar = SQL(
    """
    INSERT INTO sidecars (path, device, inode, size, mtime_ns, ctime_ns, asset, consumed_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING
    """
  )
}
