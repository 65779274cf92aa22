import HandoffCore
import HandoffProtocol
import Paths
import SQLite

extension LedgerTransaction {
  /// The row of an asset, made unless it is known, present from now on.
  ///
  /// - Parameters:
  ///   - asset: as its record has it.
  ///   - known: what the ledger has of it; nil for a new one.
  ///   - story: how it came, as JSON; goes with the event.
  /// - Returns: its row.
  /// - Throws: ``SQLiteError``.
  func place(
    _ asset: Asset,
    _ known: OrderChecks.AssetKey?,
    story: String?
  ) throws -> Int64 {
    if let known {
      if known.status == Asset.Status.deleted.rawValue {
        try setStatus(.present, of: known.row, kind: "revived", detail: story)
        // Their objects are gone, or nobody's.
        try forgetRenditions(of: known.row)
      } else if known.status != Asset.Status.present.rawValue {
        try setStatus(.present, of: known.row, detail: story)
      } else if let story {
        try record(Event(at: now, kind: "seen_again", asset: known.row, detail: story))
      }
      try recordUse(of: known.row)
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
    try record(Event(at: now, kind: "imported", asset: row, detail: story))
    return row
  }

  /// The asset is needed now: its age counts anew.
  func recordUse(of asset: Int64) throws {
    try connection.run(Self.updateUse, [.integer(now), .integer(asset)])
  }

  /// Changes what has become of an asset's resource; of a deleted one the bytes count as still there.
  ///
  /// The event is named after the status unless it has a name of its own.
  func setStatus(
    _ status: Asset.Status,
    of asset: Int64,
    kind: String? = nil,
    detail: String? = nil
  ) throws {
    try connection.run(Self.updateStatus, [.text(status.rawValue), .integer(asset)])
    let kind = kind ?? "asset_\(status.rawValue)"
    try record(Event(at: now, kind: kind, asset: asset, detail: detail))
    try tell(status, of: asset)
  }

  /// Records that a person took the asset although the checks did not pass; the first time counts.
  func accept(_ acceptance: Acceptance, asset: Int64) throws {
    let written = try connection.run(
      Self.updateAcceptance,
      [
        .integer(acceptance.at.milliseconds), .optional(acceptance.by.map { Int64($0) }),
        .text(acceptance.findings), .integer(asset),
      ]
    )
    guard written > 0 else { return }
    let user = acceptance.by.map { "uid \($0): " } ?? ""
    try record(
      Event(
        at: now,
        kind: "accepted_incomplete",
        asset: asset,
        detail: user + acceptance.findings
      )
    )
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

  /// The folder took this content from the path, which has held nothing else since.
  func hasLatest(_ sighting: Sighting, asset: Int64) throws -> Bool {
    guard sighting.folder != Sighting.byHand else { return false }
    let values: [Value] = [
      .blob(sighting.path.bytes), .blob(sighting.folder.bytes), .integer(asset),
    ]
    return try connection.first(Self.findSame, values) { _ in true } ?? false
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
  /// by hand and has succeeded or may still, or was deleted at any time: only a person hands that off.
  func orderIfMissing(_ prepared: PreparedOrder) throws -> Handoff.ID? {
    if try handoff(sameAs: prepared) != nil { return nil }
    let assets = try presentAssets(prepared.order.localIdentifiers)
    if prepared.order.isAutomatic, let first = assets.first {
      let destination = prepared.order.destination
      if try hasAutomaticHandoff(first, destination) { return nil }
      if try orderChecks.standing(assets, destination) != nil { return nil }
      if try orderChecks.pastStanding(assets, destination) != nil { return nil }
      if try wasDeleted(first) { return nil }
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
  private static let updateStatus = SQL(
    "UPDATE assets SET status = ?1, bytes_gone_at = NULL WHERE id = ?2"
  )
  private static let updateUse = SQL("UPDATE assets SET used_at = max (used_at, ?1) WHERE id = ?2")
  private static let updateAcceptance = SQL(
    """
    UPDATE assets SET accepted_at = ?1, accepted_by = ?2, accepted_findings = ?3
    WHERE id = ?4 AND accepted_at IS NULL
    """
  )
  private static let findLatest = SQL("SELECT asset FROM sightings WHERE path = ?1 AND latest = 1")
  private static let findSame = SQL(
    "SELECT 1 FROM sightings WHERE path = ?1 AND latest = 1 AND folder = ?2 AND asset = ?3"
  )
  private static let endLatest = SQL(
    "UPDATE sightings SET latest = 0, original_waits = 0 WHERE path = ?1 AND latest = 1"
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
  private static let insertSidecar = SQL(
    """
    INSERT INTO sidecars (path, device, inode, size, mtime_ns, ctime_ns, asset, consumed_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING
    """
  )
}
