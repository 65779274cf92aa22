import HandoffCore
import HandoffProtocol
import SQLite

extension LedgerTransaction {
  /// Links an older asset to the one that took its path.
  ///
  /// An export that returns to an earlier content turns the link round: none supersedes itself by
  /// whatever way, and what was held of that content goes on.
  ///
  /// - Parameters:
  ///   - older: the row of the asset that the path held.
  ///   - newer: the row of the asset that it holds now.
  ///   - policy: ``DropFolderSettings/OnSupersede/replace`` holds too: what can be replaced is replaced
  ///     once the newer asset's own handoffs are made, see ``replaceHeld(of:by:inheriting:)``.
  /// - Returns: the older asset's identifier.
  /// - Throws: ``SQLiteError``.
  func supersede(
    _ older: Int64,
    by newer: Int64,
    _ policy: DropFolderSettings.OnSupersede
  ) throws -> LocalIdentifier? {
    try connection.run(Self.endLinks, [.integer(newer)])
    try connection.run(Self.linkNewer, [.integer(older), .integer(newer)])
    try connection.run(Self.linkOlder, [.integer(newer), .integer(older)])
    let name = try identifier(ofAsset: newer)
    try record(
      Event(at: now, kind: "superseded", asset: older, detail: name.map { "by \($0)" })
    )
    switch policy {
    case .hold, .replace: try holdAsSuperseded(older)
    case .both: break
    }
    try touchRows(Self.letGo, [.integer(newer), .integer(now)])
    return try identifier(ofAsset: older)
  }

  /// Has the open handoffs of a superseded asset wait for a person.
  func holdAsSuperseded(_ asset: Int64) throws {
    try touchRows(Self.hold, [.integer(asset)])
  }

  /// Ends, as cancelled, the automatic handoffs of a superseded asset that were not sent.
  ///
  /// Each frees the pair's place for an automatic handoff, so that content which returns is handed
  /// off again. Handoffs of several assets and those by hand name what a person has chosen: they stay
  /// held.
  ///
  /// - Parameters:
  ///   - older: the superseded asset.
  ///   - newer: the asset that took its path; its own handoffs are made already.
  ///   - inheriting: make each of them anew for the newer asset where that has none to the destination.
  /// - Returns: what has ended, and what was made in its place.
  /// - Throws: ``LedgerError``, or ``SQLiteError``.
  func replaceHeld(
    of older: Int64,
    by newer: Int64,
    inheriting: Bool
  ) throws -> (ended: [Handoff.ID], made: [Handoff.ID]) {
    guard let newerName = try identifier(ofAsset: newer),
      let olderName = try identifier(ofAsset: older)
    else { return ([], []) }
    let rows = try connection.rows(Self.replaceable, [.integer(older)]) { row in
      try HandoffRow(row)
    }
    var made: [Handoff.ID] = []
    for var row in rows {
      try withdraw(&row, of: olderName, replacedBy: newerName)
      guard inheriting, let id = try inherit(row, newer, newerName) else { continue }
      made.append(id)
    }
    return (rows.map(\.handoffID), made)
  }

  private func withdraw(
    _ row: inout HandoffRow,
    of older: LocalIdentifier,
    replacedBy newer: LocalIdentifier
  ) throws {
    let error = ResultError(
      .superseded,
      "its export was exported again: superseded by \(newer)",
      effect: .none,
      localIdentifier: older
    )
    try move(&row, .withdraw, detail: "superseded by \(newer)") { row in
      row.result = "cancelled"
      row.error = HandoffRow.StoredError(error, .broker)
    }
    try connection.run(Self.freePair, [.integer(row.id)])
  }

  /// The same order for the newer asset; nil where it has a handoff to the destination.
  private func inherit(
    _ row: HandoffRow,
    _ newer: Int64,
    _ name: LocalIdentifier
  ) throws -> Handoff.ID? {
    guard let destination = DestinationName(row.destination) else { return nil }
    var order = HandoffOrder(
      destination: destination,
      localIdentifiers: [name],
      isAutomatic: true
    )
    order.title = row.title
    order.syncPublish = row.syncPublish
    order.callbackID = row.callbackID.flatMap(CallbackID.init)
    order.metadata = try row.metadata.map { try WireCoder.decode(JSONValue.self, from: $0.utf8) }
    order.publishAt = try HandoffRow.publishMoment(of: row.id, connection)
    return try orderIfMissing(PreparedOrder(order))
  }

  /// Lets a handoff go on that was held as superseded, because a person says so.
  func letGo(_ row: HandoffRow) throws {
    try connection.run(Self.letOneGo, [.integer(row.id), .integer(now)])
    try record("let_go", of: row)
    touch(row.destination)
  }

  func identifier(ofAsset row: Int64) throws -> LocalIdentifier? {
    let text = try connection.first(Self.identifierOfAsset, [.integer(row)]) { row in
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

  // Without this, a chain that returns to an asset in its middle would supersede itself.
  private static let endLinks = SQL("UPDATE assets SET supersedes = NULL WHERE supersedes = ?1")
  private static let linkNewer = SQL(
    "UPDATE assets SET supersedes = ?1, superseded_by = NULL WHERE id = ?2"
  )
  private static let linkOlder = SQL("UPDATE assets SET superseded_by = ?1 WHERE id = ?2")
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
  private static let goOn = """
    is_superseded = 0,
      waiting_reason = iif (waiting_reason IS NOT 'superseded', waiting_reason,
        iif (publish_at > ?2, 'publish_at', NULL)),
      waiting_until = iif (waiting_reason IS NOT 'superseded', waiting_until,
        iif (publish_at > ?2, publish_at, NULL)),
      due_at = iif (waiting_reason IS NOT 'superseded', due_at, max (?2, ifnull (publish_at, 0)))
    """
  private static let letGo = SQL(
    """
    UPDATE handoffs SET \(goOn)
    WHERE is_superseded = 1 AND finished_at IS NULL
      AND id IN (SELECT handoff FROM handoff_assets WHERE asset = ?1)
      AND NOT EXISTS (
        SELECT 1 FROM handoff_assets AS ha JOIN assets AS a ON a.id = ha.asset
        WHERE ha.handoff = handoffs.id AND a.superseded_by IS NOT NULL)
    RETURNING destination
    """
  )
  private static let letOneGo = SQL("UPDATE handoffs SET \(goOn) WHERE id = ?1")
  private static let replaceable = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE automatic_asset = ?1
      AND (status = 'pending' OR status = 'leased') AND instr (local_identifiers, ' ') = 0
    ORDER BY id
    """
  )
  private static let freePair = SQL("UPDATE handoffs SET automatic_asset = NULL WHERE id = ?1")
  private static let identifierOfAsset = SQL("SELECT identifier FROM assets WHERE id = ?1")
}
