package import HandoffCore
package import HandoffProtocol
import SQLite

/// A notice and whom it is for.
package struct AddressedNotice: Hashable, Sendable {
  package var draft: NoticeDraft
  package var callback: CallbackID

  package init(_ draft: NoticeDraft, for callback: CallbackID) {
    self.draft = draft
    self.callback = callback
  }
}

extension Ledger {
  /// Records notices of what is no transition of the ledger itself; what was told to the same callback
  /// id already is left out.
  package func notify(_ notices: [AddressedNotice]) async throws {
    guard !notices.isEmpty else { return }
    try await write { transaction in
      for notice in notices { try transaction.add(notice.draft, for: notice.callback) }
    }
  }

  /// What lasted is over: it is told anew when it comes back.
  package func endConditions(_ conditions: [NoticeDraft.Condition]) async throws {
    guard !conditions.isEmpty else { return }
    try await write { transaction in
      for condition in conditions { try transaction.end(condition) }
    }
  }

  /// Ends what an earlier broker found, and nobody suffers from any more.
  ///
  /// - Parameters:
  ///   - kinds: only conditions of these kinds.
  ///   - lasting: those from which somebody suffers now.
  /// - Throws: where the ledger cannot be written; nothing has ended then.
  package func endConditions(
    of kinds: Set<Notice.Kind>,
    except lasting: [NoticeDraft.Condition]
  ) async throws {
    let lasting = Set(lasting.map(\.text))
    try await write { transaction in
      let rows = try transaction.connection.rows(NoticeChanges.lasting) { row in
        (id: try row.integer(0), kind: try row.text(1), condition: try row.text(2))
      }
      for row in rows where !lasting.contains(row.condition) {
        guard let kind = Notice.Kind(rawValue: row.kind), kinds.contains(kind) else { continue }
        try transaction.connection.run(NoticeChanges.forget, [.integer(row.id)])
      }
    }
  }

  /// Records that a notice has reached its callback.
  package func recordDelivery(of id: Notice.ID) async throws {
    try await write { transaction in
      var row = try transaction.notice(id)
      guard row.state == .pending else { return }
      let now = transaction.now
      row.state = .delivered
      row.firstAttemptAt = row.firstAttemptAt ?? now
      row.attempts += 1
      row.dueAt = nil
      row.finishedAt = now
      row.error = nil
      try transaction.save(row)
    }
  }

  /// Records that a try has failed: the next one comes later, or the notice is given up.
  ///
  /// - Parameters:
  ///   - id: the notice.
  ///   - error: one sentence; it is shown to people.
  ///   - retry: when it is tried again; the time counts from the first try. Nil: it is given up.
  ///   - jitter: 0 to 1; see ``RetryPolicy``.
  ///   - floor: the other side asks not to be tried before.
  /// - Returns: the notice as it is now.
  /// - Throws: ``LedgerError/unknownNotice(_:)``, or where the ledger cannot be written.
  package func recordFailedDelivery(
    of id: Notice.ID,
    _ error: String,
    retry: RetryPolicy?,
    jitter: Double,
    floor: Duration = .zero
  ) async throws -> Notice {
    let row = try await write { transaction in
      var row = try transaction.notice(id)
      guard row.state == .pending else { return row }
      let now = transaction.now
      let first = row.firstAttemptAt ?? now
      row.firstAttemptAt = first
      row.attempts += 1
      row.error = error
      let wait = retry?.wait(
        failures: Int(row.attempts),
        elapsed: .milliseconds(now - first),
        jitter: jitter,
        floor: floor
      )
      row.dueAt = wait.map { Timestamp(milliseconds: now).advanced(by: $0).milliseconds }
      if wait == nil {
        row.state = .failed
        row.finishedAt = now
      }
      try transaction.save(row)
      return row
    }
    return try Notice(row)
  }

  /// A person asks for a notice that was given up to be tried again.
  ///
  /// - Throws: ``LedgerError/noticeNotFailed(_:_:)`` for one that has not failed.
  package func retry(_ id: Notice.ID) async throws -> Notice {
    try await decide(id) { row, now in
      row.state = .pending
      row.attempts = 0
      row.firstAttemptAt = nil
      row.dueAt = now
      row.finishedAt = nil
    }
  }

  /// A person has seen a notice that was given up: it counts as delivered.
  ///
  /// - Throws: ``LedgerError/noticeNotFailed(_:_:)`` for one that has not failed.
  package func dismiss(_ id: Notice.ID) async throws -> Notice {
    try await decide(id) { row, _ in row.state = .delivered }
  }

  /// Gives up notices to callback ids that are not configured any more, and forgets old ones.
  ///
  /// - Parameters:
  ///   - configured: the callback ids that somebody serves.
  ///   - patience: how long a notice waits for its id to be configured again.
  ///   - age: how long one is kept that was delivered or given up; what it has told is forgotten with
  ///     it, unless it was found again since.
  /// - Returns: true where more is left to be done at once.
  /// - Throws: where the ledger cannot be written.
  package func tidyNotices(
    configured: Set<CallbackID>,
    patience: Duration,
    age: Duration
  ) async throws -> Bool {
    try await write { transaction in
      let now = Timestamp(milliseconds: transaction.now)
      let callbacks = try transaction.connection.rows(NoticeChanges.waitingCallbacks) { row in
        try row.text(0)
      }
      for text in callbacks where !(CallbackID(text).map(configured.contains) ?? false) {
        try transaction.connection.run(
          NoticeChanges.giveUp,
          [
            .text(text), .integer(now.advanced(by: .zero - patience).milliseconds),
            .integer(now.milliseconds),
          ]
        )
      }
      let limit = Value.integer(now.advanced(by: .zero - age).milliseconds)
      return try transaction.connection.run(NoticeChanges.prune, [limit]) >= 500
    }
  }

  private func decide(
    _ id: Notice.ID,
    _ change: @escaping @Sendable (inout NoticeRow, Int64) -> Void
  ) async throws -> Notice {
    let row = try await write { transaction in
      var row = try transaction.notice(id)
      guard row.state == .failed else { throw LedgerError.noticeNotFailed(id, row.state) }
      change(&row, transaction.now)
      try transaction.save(row)
      return row
    }
    return try Notice(row)
  }
}

private enum NoticeChanges {
  static let lasting = SQL(
    "SELECT id, kind, condition FROM notices WHERE condition >= 'lasting:' AND condition < 'lasting;'"
  )
  static let forget = SQL("UPDATE notices SET condition = NULL WHERE id = ?1")
  static let waitingCallbacks = SQL("SELECT DISTINCT callback FROM notices WHERE state = 'pending'")
  static let giveUp = SQL(
    """
    UPDATE notices SET state = 'failed', due_at = NULL, finished_at = ?3,
      error = 'callback_unknown: the callback id is not configured'
    WHERE state = 'pending' AND callback = ?1 AND created_at < ?2
    """
  )
  // The limit bounds how long one transaction holds up the others.
  static let prune = SQL(
    """
    DELETE FROM notices WHERE id IN (
      SELECT id FROM notices WHERE finished_at < ?1 AND finished_at IS NOT NULL AND seen_at < ?1
        AND (condition IS NULL OR condition NOT LIKE 'lasting:%')
      LIMIT 500)
    """
  )
}
