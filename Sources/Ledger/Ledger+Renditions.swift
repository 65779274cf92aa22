package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Records a rendition of an asset, as one change; its object and the asset's record are there already.
  ///
  /// The same bytes under the same name change nothing. Other bytes take the place of the former ones,
  /// whose object is nobody's from then on.
  ///
  /// - Parameters:
  ///   - rendition: what was registered.
  ///   - identifier: the asset.
  ///   - handoff: the open handoff under which it was registered.
  /// - Returns: false where it was known.
  /// - Throws: ``LedgerError/hasEnded(_:_:)``, ``LedgerError/assetDeleted(_:)`` and others: then nothing has
  ///   changed.
  @discardableResult
  package func register(
    _ rendition: Rendition,
    of identifier: LocalIdentifier,
    under handoff: Handoff.ID
  ) async throws -> Bool {
    try await write { transaction in
      let row = try transaction.row(handoff)
      guard !row.status.isFinal else { throw LedgerError.hasEnded(handoff, row.status) }
      guard let known = try transaction.assetKey(identifier) else {
        throw LedgerError.unknownAsset(identifier)
      }
      guard known.status != Asset.Status.deleted.rawValue else {
        throw LedgerError.assetDeleted(identifier)
      }
      let former = try transaction.renditionDigest(rendition.name, of: known.row)
      try transaction.put(rendition, of: known.row)
      guard former != rendition.digest.bytes else { return false }
      try transaction.record(
        Event(
          at: transaction.now,
          kind: former == nil ? "rendition_registered" : "rendition_replaced",
          handoff: handoff.row,
          asset: known.row,
          destination: row.destination,
          detail: "\(rendition.name) \(rendition.digest.hex)"
        )
      )
      return true
    }
  }

  /// Records what reading a rendition's object again has shown.
  ///
  /// One that was registered anew meanwhile is not touched.
  ///
  /// - Returns: the status that it had before; nil where there is no such rendition any more.
  @discardableResult
  package func recordReading(
    of identifier: LocalIdentifier,
    _ rendition: Rendition,
    _ condition: ObjectCondition
  ) async throws -> Asset.Status? {
    try await write { transaction in
      guard let known = try transaction.assetKey(identifier) else { return nil }
      return try transaction.record(condition, ofRendition: rendition, asset: known.row)
    }
  }
}

extension LedgerReading {
  /// A content is needed as an asset, or as a rendition, of which the asset is not deleted.
  ///
  /// - Parameters:
  ///   - digest: the content.
  ///   - identifier: an asset that does not count, with its renditions.
  /// - Returns: whether somebody needs it.
  /// - Throws: where the ledger cannot be read.
  package func isNeeded(
    _ digest: ContentDigest,
    besides identifier: LocalIdentifier
  ) async throws -> Bool {
    try await readings.queue.read { connection in
      let values: [Value] = [.blob(digest.bytes), .text(identifier.text)]
      return try connection.first(RenditionQueries.needed, values) { _ in true } ?? false
    }
  }

  /// How many renditions of assets that are not deleted there are, and their bytes.
  package func renditionTotals() async throws -> AssetTotals {
    try await readings.queue.read { connection in
      try connection.first(RenditionQueries.totals) { row in
        AssetTotals(count: Int(try row.integer(0)), bytes: try row.integer(1))
      } ?? AssetTotals()
    }
  }
}

extension LedgerTransaction {
  fileprivate func renditionDigest(_ name: RenditionName, of asset: Int64) throws -> [UInt8]? {
    try connection.first(RenditionQueries.digest, [.integer(asset), .text(name.text)]) { row in
      try row.blob(0)
    }
  }

  /// Writes a rendition's row, in the place of one of the same name.
  func put(_ rendition: Rendition, of asset: Int64) throws {
    let facts = rendition.facts
    try connection.run(
      RenditionQueries.put,
      [
        .integer(asset), .text(rendition.name.text), .blob(rendition.digest.bytes),
        .integer(rendition.size), .text(rendition.fileExtension), .optional(facts?.container),
        .optional(facts?.videoCodec), .optional(facts.map { Int64($0.width) }),
        .optional(facts.map { Int64($0.height) }), .optional(facts.map { Int64($0.rotation) }),
        facts.map { .real($0.duration) } ?? .null, .optional(facts.map { Int64($0.audioTracks) }),
        .text(rendition.registeredBy.text), .integer(rendition.registeredAt.milliseconds),
        .text(rendition.status.rawValue),
      ]
    )
  }

  /// Forgets the renditions of an asset whose bytes are gone, or which begins anew.
  func forgetRenditions(of asset: Int64) throws {
    try connection.run(RenditionQueries.forget, [.integer(asset)])
  }

  fileprivate func record(
    _ condition: ObjectCondition,
    ofRendition rendition: Rendition,
    asset: Int64
  ) throws -> Asset.Status? {
    let key: [Value] = [
      .integer(asset), .text(rendition.name.text), .blob(rendition.digest.bytes),
    ]
    let found = try connection.first(RenditionQueries.status, key) { row in try row.text(0) }
    guard let before = found.flatMap(Asset.Status.init(rawValue:)) else { return nil }
    let (after, modified): (Asset.Status, Int64?) =
      switch condition {
      case .good(let modified): (.present, modified)
      case .damaged: (.damaged, nil)
      case .missing: (.unavailable, nil)
      }
    try connection.run(
      RenditionQueries.recordReading,
      key + [.text(after.rawValue), .integer(now), .optional(modified)]
    )
    guard after != before else { return before }
    try record(
      Event(
        at: now,
        kind: "rendition_\(after == .unavailable ? "missing" : after.rawValue)",
        asset: asset,
        from: before.rawValue,
        to: after.rawValue,
        detail: rendition.name.text
      )
    )
    return before
  }
}

extension Rendition {
  init(_ row: borrowing Row) throws {
    guard let name = RenditionName(try row.text(0)), let digest = ContentDigest(try row.blob(1)),
      let destination = DestinationName(try row.text(11)),
      let status = Asset.Status(rawValue: try row.text(13))
    else { throw UnreadableRow(id: try row.integer(15), column: "rendition") }
    let facts =
      row.isNull(4)
      ? nil
      : MediaFacts(
        container: try row.text(4),
        videoCodec: try row.text(5),
        width: Int(try row.integer(6)),
        height: Int(try row.integer(7)),
        rotation: Int(try row.integer(8)),
        duration: try row.real(9),
        audioTracks: Int(try row.integer(10))
      )
    self.init(
      name: name,
      digest: digest,
      size: try row.integer(2),
      fileExtension: try row.text(3),
      facts: facts,
      registeredBy: destination,
      registeredAt: Timestamp(milliseconds: try row.integer(12))
    )
    self.status = status
    modified = try row.optionalInteger(14)
  }
}

enum RenditionQueries {
  static let ofAsset = SQL(
    """
    SELECT name, digest, size, extension, container, video_codec, width, height, rotation, duration_s,
      audio_tracks, destination, registered_at, status, object_mtime_ns, id
    FROM renditions WHERE asset = ?1 ORDER BY name
    """
  )
  fileprivate static let digest = SQL(
    "SELECT digest FROM renditions WHERE asset = ?1 AND name = ?2"
  )
  fileprivate static let status = SQL(
    "SELECT status FROM renditions WHERE asset = ?1 AND name = ?2 AND digest = ?3"
  )
  fileprivate static let put = SQL(
    """
    INSERT INTO renditions (asset, name, digest, size, extension, container, video_codec, width,
      height, rotation, duration_s, audio_tracks, destination, registered_at, status)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
    ON CONFLICT (asset, name) DO UPDATE SET digest = ?3, size = ?4, extension = ?5, container = ?6,
      video_codec = ?7, width = ?8, height = ?9, rotation = ?10, duration_s = ?11, audio_tracks = ?12,
      destination = ?13, registered_at = ?14, status = ?15, verified_at = NULL,
      object_mtime_ns = NULL
    """
  )
  fileprivate static let forget = SQL("DELETE FROM renditions WHERE asset = ?1")
  fileprivate static let recordReading = SQL(
    """
    UPDATE renditions SET status = ?4, verified_at = ?5, object_mtime_ns = ?6
    WHERE asset = ?1 AND name = ?2 AND digest = ?3
    """
  )
  fileprivate static let needed = SQL(
    """
    SELECT 1 FROM assets WHERE digest = ?1 AND status <> 'deleted' AND identifier <> ?2
    UNION ALL
    SELECT 1 FROM renditions AS r JOIN assets AS a ON a.id = r.asset
    WHERE r.digest = ?1 AND a.status <> 'deleted' AND a.identifier <> ?2 LIMIT 1
    """
  )
  fileprivate static let totals = SQL(
    """
    SELECT count(*), ifnull (sum(r.size), 0) FROM renditions AS r JOIN assets AS a ON a.id = r.asset
    WHERE a.status <> 'deleted'
    """
  )
  static let living = SQL(
    """
    SELECT 1 FROM renditions AS r JOIN assets AS a ON a.id = r.asset
    WHERE r.digest = ?1 AND a.status <> 'deleted' LIMIT 1
    """
  )
}
