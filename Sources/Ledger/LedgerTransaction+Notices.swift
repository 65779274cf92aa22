import HandoffCore
import HandoffProtocol
import SQLite

/// Notices are written in the transaction of what they tell; who has no callback id costs nothing.
extension LedgerTransaction {
  /// Tells the sender of a handoff's end, and the broker's alert of one that waits for a person.
  func tell(of row: HandoffRow, from before: HandoffStatus) throws {
    switch row.status {
    case .succeeded, .cancelled, .refused, .failed, .expired:
      guard let callback = row.callbackID.flatMap({ CallbackID($0) }) else { return }
      let outputSize = row.output?.utf8.count ?? 0
      // What does not go along is not decoded on this thread.
      let omitted: [String: JSONValue]? = outputSize > NoticeDraft.longestOutput ? [:] : nil
      let draft = NoticeDraft.result(
        of: try Handoff(row, output: omitted),
        outputSize: outputSize,
        at: Timestamp(milliseconds: row.finishedAt ?? now)
      )
      try add(draft, for: callback)
    case .outcomeUnknown:
      guard let alert = routing.alert, row.status != before else { return }
      try add(doubt(about: row), for: alert)
    case .needsUser:
      // A receiver may change its words as often as it likes.
      guard let alert = routing.alert, try !wasTold(ofNeed: row, alert) else { return }
      try add(doubt(about: row), for: alert)
    case .pending, .leased, .submitted, .accepted: return
    }
  }

  private func doubt(about row: HandoffRow) throws -> NoticeDraft {
    .doubt(about: try Handoff(row, output: [:]), at: Timestamp(milliseconds: now))
  }

  /// Whether a need of this handoff was told within the last minute.
  private func wasTold(ofNeed row: HandoffRow, _ alert: CallbackID) throws -> Bool {
    try connection.first(
      Self.recentNeed,
      [
        .text(row.handoffID.description), .text(Notice.Kind.needsUser.rawValue),
        .text(alert.text), .integer(now - Self.minute),
      ]
    ) { _ in true } ?? false
  }

  /// Tells the broker's alert of a damaged asset, once until it is sound again.
  func tell(_ status: Asset.Status, of asset: Int64) throws {
    guard let alert = routing.alert, status == .damaged || status == .present else { return }
    guard let identifier = try identifier(ofAsset: asset) else { return }
    if status == .damaged {
      try add(.damagedAsset(identifier, at: Timestamp(milliseconds: now)), for: alert)
    } else {
      try end(NoticeDraft.damage(of: identifier))
    }
  }

  /// Adds a notice, unless its condition was told to this callback id already.
  func add(_ draft: NoticeDraft, for callback: CallbackID) throws {
    let body = String(decoding: try WireCoder.encode(draft.body), as: UTF8.self)
    let written = try connection.run(
      Self.insertNotice,
      [
        .text(callback.text), .text(draft.kind.rawValue), .text(draft.subject),
        .optional(draft.condition?.text), .text(body), .integer(now), .integer(Self.day),
      ]
    )
    if written > 0 { ring(callback) }
  }

  /// What lasted is over: it may be told anew.
  func end(_ condition: NoticeDraft.Condition) throws {
    try connection.run(Self.endCondition, [.text(condition.text)])
  }

  /// A notice's row as it is now.
  func notice(_ id: Notice.ID) throws -> NoticeRow {
    let row = try connection.first(Self.readNotice, [.integer(id.row)]) { row in
      try NoticeRow(row)
    }
    guard let row else { throw LedgerError.unknownNotice(id) }
    return row
  }

  /// Saves how far the delivery of a notice has come.
  func save(_ row: NoticeRow) throws {
    try connection.run(
      Self.saveNotice,
      [
        .integer(row.id), .text(row.state.rawValue), .integer(row.attempts),
        .optional(row.dueAt), .optional(row.firstAttemptAt), .optional(row.finishedAt),
        .optional(row.error),
      ]
    )
    // Another of the same subject may be due now, or this one later.
    if let callback = CallbackID(row.callback) { ring(callback) }
  }

  private static let minute: Int64 = 60_000
  private static let day: Int64 = 86_400_000

  // That a condition still lasts is kept once a day: a start finds every refused export again.
  private static let insertNotice = SQL(
    """
    INSERT INTO notices (callback, kind, subject, condition, body, state, created_at, seen_at,
      due_at) VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6, ?6, ?6)
    ON CONFLICT (condition, callback) WHERE condition IS NOT NULL
    DO UPDATE SET seen_at = ?6 WHERE seen_at < ?6 - ?7
    """
  )
  private static let recentNeed = SQL(
    """
    SELECT 1 FROM notices WHERE subject = ?1 AND kind = ?2 AND callback = ?3 AND created_at > ?4
    LIMIT 1
    """
  )
  private static let endCondition = SQL(
    "UPDATE notices SET condition = NULL WHERE condition = ?1"
  )
  private static let readNotice = SQL("SELECT \(NoticeRow.columns) FROM notices WHERE id = ?1")
  private static let saveNotice = SQL(
    """
    UPDATE notices SET state = ?2, attempts = ?3, due_at = ?4, first_attempt_at = ?5,
      finished_at = ?6, error = ?7
    WHERE id = ?1
    """
  )
}
