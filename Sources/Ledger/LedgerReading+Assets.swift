package import HandoffCore
package import HandoffProtocol
package import Paths
import SQLite

extension LedgerReading {
  /// An asset with all its sightings, or nil.
  package func asset(_ identifier: LocalIdentifier) async throws -> Asset? {
    try await readings.queue.read { connection in
      try connection.first(AssetQueries.byIdentifier, [.text(identifier.text)]) { row in
        try AssetRow(row)
      }?.asset(in: connection)
    }
  }

  /// Assets in the order of their import, with all their sightings.
  package func assets(limit: Int = .max, offset: Int = 0) async throws -> [Asset] {
    try await readings.queue.read { connection in
      try connection.rows(
        AssetQueries.page,
        [.integer(Int64(limit)), .integer(Int64(offset))]
      ) { row in try AssetRow(row) }.map { try $0.asset(in: connection) }
    }
  }

  /// The asset that a drop folder imported a file as, if it is still the same file with the same
  /// content: same device, inode, size and both times.
  ///
  /// An import by hand does not count: its folder has still to take the file.
  package func identifier(
    sightedAt path: BytePath,
    identity: FileIdentity
  ) async throws -> LocalIdentifier? {
    try await identifier(
      AssetQueries.sighted,
      [
        .blob(path.bytes), .integer(Int64(bitPattern: identity.device)),
        .integer(Int64(bitPattern: identity.inode)), .integer(identity.size),
        .integer(identity.modified), .integer(identity.changed),
        .blob(Sighting.byHand.bytes),
      ]
    )
  }

  /// The asset that was last imported from a path, whatever the path holds now.
  package func identifier(lastSightedAt path: BytePath) async throws -> LocalIdentifier? {
    try await identifier(AssetQueries.lastSighted, [.blob(path.bytes)])
  }

  /// A sidecar was used up by an import, and is still the same file with the same content.
  package func sidecarIsConsumed(_ path: BytePath, identity: FileIdentity) async throws -> Bool {
    try await readings.queue.read { connection in
      try connection.first(
        AssetQueries.sidecar,
        [
          .blob(path.bytes), .integer(Int64(bitPattern: identity.device)),
          .integer(Int64(bitPattern: identity.inode)), .integer(identity.size),
          .integer(identity.modified), .integer(identity.changed),
        ]
      ) { _ in true } ?? false
    }
  }

  private func identifier(_ sql: SQL, _ values: [Value]) async throws -> LocalIdentifier? {
    try await readings.queue.read { connection in
      try connection.first(sql, values) { row in LocalIdentifier(try row.text(0)) } ?? nil
    }
  }
}

/// One row of `assets`.
private struct AssetRow {
  let id: Int64
  var value: Asset

  init(_ row: borrowing Row) throws {
    id = try row.integer(0)
    guard let digest = ContentDigest(try row.blob(1)),
      let status = Asset.Status(rawValue: try row.text(10))
    else { throw UnreadableRow(id: id, column: "digest or status") }
    let facts = MediaFacts(
      container: try row.text(3),
      videoCodec: try row.text(4),
      width: Int(try row.integer(5)),
      height: Int(try row.integer(6)),
      rotation: Int(try row.integer(7)),
      duration: try row.real(8),
      audioTracks: Int(try row.integer(9))
    )
    value = Asset(
      digest: digest,
      size: try row.integer(2),
      facts: facts,
      importedAt: Timestamp(milliseconds: try row.integer(11))
    )
    value.status = status
    value.supersedes = try row.optionalText(12).flatMap { LocalIdentifier($0) }
    value.supersededBy = try row.optionalText(13).flatMap { LocalIdentifier($0) }
    value.acceptance = try Self.acceptance(row, from: 14)
  }

  private static func acceptance(_ row: borrowing Row, from column: Int) throws -> Acceptance? {
    guard let at = try row.optionalInteger(column) else { return nil }
    return Acceptance(
      at: Timestamp(milliseconds: at),
      by: try row.optionalInteger(column + 1).flatMap { UInt32(exactly: $0) },
      findings: try row.text(column + 2)
    )
  }

  /// The asset with its sightings and renditions.
  func asset(in connection: Connection) throws -> Asset {
    var asset = value
    asset.sources = try connection.rows(AssetQueries.sightings, [.integer(id)]) { row in
      Sighting(
        path: BytePath(try row.blob(0)),
        folder: BytePath(try row.blob(1)),
        identity: FileIdentity(
          device: UInt64(bitPattern: try row.integer(2)),
          inode: UInt64(bitPattern: try row.integer(3)),
          size: try row.integer(4),
          modified: try row.integer(5),
          changed: try row.integer(6)
        ),
        seenAt: Timestamp(milliseconds: try row.integer(7))
      )
    }
    asset.renditions = try connection.rows(RenditionQueries.ofAsset, [.integer(id)]) { row in
      try Rendition(row)
    }
    return asset
  }
}

/// The statements of the reading side.
private enum AssetQueries {
  private static let columns = """
    a.id, a.digest, a.size, a.container, a.video_codec, a.width, a.height, a.rotation, a.duration_s,
    a.audio_tracks, a.status, a.imported_at,
    (SELECT identifier FROM assets WHERE id = a.supersedes),
    (SELECT identifier FROM assets WHERE id = a.superseded_by),
    a.accepted_at, a.accepted_by, a.accepted_findings
    """
  static let byIdentifier = SQL("SELECT \(columns) FROM assets AS a WHERE a.identifier = ?1")
  static let page = SQL("SELECT \(columns) FROM assets AS a ORDER BY a.id LIMIT ?1 OFFSET ?2")
  static let sightings = SQL(
    """
    SELECT path, folder, device, inode, size, mtime_ns, ctime_ns, seen_at FROM sightings
    WHERE asset = ?1 ORDER BY id
    """
  )
  static let sighted = SQL(
    """
    SELECT a.identifier FROM sightings AS s JOIN assets AS a ON a.id = s.asset
    WHERE s.path = ?1 AND s.latest = 1 AND s.device = ?2 AND s.inode = ?3 AND s.size = ?4
      AND s.mtime_ns = ?5 AND s.ctime_ns = ?6 AND s.folder <> ?7
    """
  )
  static let lastSighted = SQL(
    """
    SELECT a.identifier FROM sightings AS s JOIN assets AS a ON a.id = s.asset
    WHERE s.path = ?1 AND s.latest = 1
    """
  )
  static let sidecar = SQL(
    """
    SELECT 1 FROM sidecars WHERE path = ?1 AND device = ?2 AND inode = ?3 AND size = ?4
      AND mtime_ns = ?5 AND ctime_ns = ?6
    """
  )
}
