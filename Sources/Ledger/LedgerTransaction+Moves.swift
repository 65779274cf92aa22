import HandoffCore
import HandoffProtocol
import SQLite

extension LedgerTransaction {
  /// The row of a handoff.
  func row(_ id: Handoff.ID) throws -> HandoffRow {
    guard let row = try optionalRow(id.row) else { throw LedgerError.unknownHandoff(id) }
    return row
  }

  /// The row with a number, or nil.
  func optionalRow(_ id: Int64) throws -> HandoffRow? {
    try connection.first(Self.readRow, [.integer(id)]) { row in try HandoffRow(row) }
  }

  /// Moves a handoff as its life allows, and records it.
  ///
  /// - Parameters:
  ///   - row: the row as it was read in this transaction; gets what is saved.
  ///   - event: what happened.
  ///   - kind: the event's name in the chain; else the move's own.
  ///   - detail: for people; never a token.
  ///   - columns: those that the change touches.
  ///   - change: what else changes with the move.
  /// - Throws: ``LedgerError/illegal(_:_:)`` for a move that its life does not have.
  func move(
    _ row: inout HandoffRow,
    _ event: HandoffEvent,
    kind: String? = nil,
    detail: String? = nil,
    saving columns: HandoffRow.Saving = .all,
    _ change: (inout HandoffRow) -> Void = { _ in }
  ) throws {
    let before = row.status
    do {
      row.status = try HandoffLifecycle.status(after: event, from: before)
    } catch {
      throw LedgerError.illegal(row.handoffID, error)
    }
    let now = self.now
    let awaitedApproval = row.waitingReason == WaitingReason.approval.rawValue
    if before == .pending { row.endWaiting() }
    if before == .leased { row.leaseUntil = nil }
    if row.status.isFinal {
      row.finishedAt = now
      row.cancelRequestedAt = nil
    }
    if row.status != .needsUser { row.userNeed = nil }
    // A restored ledger may not know that it was sent, and hears of it from the receiver.
    if row.status == .accepted, row.submittedAt == nil { row.submittedAt = now }
    change(&row)
    row.bearEarlierEffect()
    try save(row, from: before, columns)
    try followQuota(row, from: before, event)
    if awaitedApproval { try endApprovals(row.destination) }
    try record(kind ?? event.name, of: row, from: before, detail: detail)
    try followSuspect(row, event)
    touch(row.destination)
    if row.status.isFinal { noteEnd(of: row) }
    try tell(of: row, from: before)
  }

  /// Chains and writes an event of a handoff, with where it stands.
  ///
  /// - Parameters:
  ///   - kind: the event's name.
  ///   - row: as it is after what happened.
  ///   - before: its status before; nil where that is the same.
  ///   - destination: who brought it; nil for the handoff's own.
  ///   - detail: for people; never a token.
  /// - Throws: ``SQLiteError``.
  func record(
    _ kind: String,
    of row: HandoffRow,
    from before: HandoffStatus? = nil,
    at destination: String? = nil,
    detail: String? = nil
  ) throws {
    try record(
      Event(
        at: now,
        kind: kind,
        handoff: row.id,
        destination: destination ?? row.destination,
        from: (before ?? row.status).rawValue,
        to: row.status.rawValue,
        attempt: row.attempts,
        detail: detail
      )
    )
  }

  /// Saves a row if its status is still the one that it had.
  func save(
    _ row: HandoffRow,
    from before: HandoffStatus,
    _ columns: HandoffRow.Saving = .all
  ) throws {
    let (sql, values) = row.saving(columns, from: before)
    guard try connection.run(sql, values) == 1 else {
      throw LedgerError.leaseLost(row.handoffID)
    }
  }

  private static let readRow = SQL("SELECT \(HandoffRow.columns) FROM handoffs WHERE id = ?1")
}

extension HandoffEvent {
  /// The move's name in the chain of events.
  var name: String {
    switch self {
    case .claim: "claimed"
    case .release: "released"
    case .submit: "submitted"
    case .accept: "accepted"
    case .success: "succeeded"
    case .cancelled: "cancelled"
    case .failure(_, retry: true), .sendAgain: "retry_scheduled"
    case .failure(.unknown, _), .loseTrack: "outcome_unknown"
    case .failure: "failed"
    case .refuse: "refused"
    case .notReceived: "not_received"
    case .needUser: "needs_user"
    case .expire: "expired"
    case .withdraw: "withdrawn"
    case .adopt: "adopted"
    case .retry: "retried"
    case .restore: "restored"
    }
  }
}
