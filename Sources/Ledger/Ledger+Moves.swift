package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Records that the receiver has taken a submitted handoff, and returns whether it holds it now.
  ///
  /// It does not where its result or its loss was recorded before this answer: that is the newer word.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - attempt: which attempt the receiver has taken; nothing happens where it is past that.
  /// - Returns: whether the receiver holds it now.
  /// - Throws: where the ledger cannot be written.
  @discardableResult
  package func recordAcceptance(_ id: Handoff.ID, attempt: Int? = nil) async throws -> Bool {
    try await write { transaction in
      var row = try transaction.row(id)
      if row.isPast(attempt) { return false }
      if row.status == .submitted { try transaction.move(&row, .accept) }
      return row.status == .accepted || row.status == .needsUser
    }
  }

  /// Records what a receiver said that it knows, where that moves the handoff: a `finished` one comes
  /// through ``consume(_:from:retry:jitter:)``.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - standing: how far it came there.
  ///   - need: what a person should do there, where it waits for one.
  /// - Returns: the handoff as it is now.
  /// - Throws: where the ledger cannot be written.
  package func recordKnowledge(
    _ id: Handoff.ID,
    _ standing: HandoffKnowledge.Standing,
    need: String? = nil
  ) async throws -> Handoff {
    let row = try await write { transaction in
      var row = try transaction.row(id)
      let isDoubted = standing == .notReceived && row.isHeldAsMalformed
      if row.status.isInFlight || row.status == .outcomeUnknown, !isDoubted {
        // The receiver's memory may be as old as the ledger's.
        let isForgotten = try standing == .notReceived && transaction.isRestored(row.id)
        try transaction.apply(isForgotten ? .unknown : standing, need, to: &row)
      }
      return row
    }
    return try Handoff(row)
  }

  /// Records that the destination waits for a person, and what that person should do.
  ///
  /// It says nothing where the handoff is no attempt's any more: it has ended, or is pending again.
  ///
  /// - Returns: the handoff as it is now.
  package func recordNeedOfUser(_ id: Handoff.ID, _ need: String? = nil) async throws -> Handoff {
    let row = try await write { transaction in
      var row = try transaction.row(id)
      if row.status.isInFlight || row.status == .outcomeUnknown {
        try transaction.needUser(need, &row)
      }
      return row
    }
    return try Handoff(row)
  }

  /// Records that the destination does not wait for a person any more.
  ///
  /// - Returns: the handoff as it is now.
  package func recordUserDone(_ id: Handoff.ID) async throws -> Handoff {
    let row = try await write { transaction in
      var row = try transaction.row(id)
      if row.status == .needsUser { try transaction.move(&row, .accept) }
      return row
    }
    return try Handoff(row)
  }

  /// Expires what is past its moment, gives up what came back from one crash too many, gives back claims
  /// that ran out, and returns what has ended.
  ///
  /// Only so much at a time that others need not wait for it: more is left while it returns any.
  package func expireDue() async throws -> [Handoff] {
    let rows = try await write { transaction in
      for var row in try transaction.staleLeases() { try transaction.giveBack(&row) }
      var expired = try transaction.giveUpSuspects()
      for var row in try transaction.overdueRows() {
        try transaction.expire(&row)
        expired.append(row)
      }
      return expired
    }
    return try rows.map { try Handoff($0) }
  }

  /// Says why a pending handoff waits.
  ///
  /// It is claimed once the moment has come; without a moment, not
  /// before it is said again; without a reason, at once.
  ///
  /// - Returns: false where it is not pending any more.
  @discardableResult
  package func setWaiting(_ id: Handoff.ID, _ waiting: Handoff.Waiting?) async throws -> Bool {
    try await write { transaction in
      var row = try transaction.row(id)
      guard row.status == .pending else { return false }
      if row.waitingReason == WaitingReason.superseded.rawValue {
        row.isSuperseded = waiting?.reason == .superseded
      }
      row.wait(waiting, now: transaction.now)
      try transaction.save(row, from: .pending)
      transaction.touch(row.destination)
      return true
    }
  }

  /// Makes due at once what waits at a destination for one reason, and returns how many.
  @discardableResult
  package func endWaiting(
    _ reason: WaitingReason,
    destination: DestinationName
  ) async throws -> Int {
    try await write { transaction in
      try transaction.endWaiting(reason, destination)
    }
  }

  /// Asks for another attempt of a handoff that failed or whose outcome is unknown; one that is held as
  /// superseded goes on.
  ///
  /// Its token is the
  /// same and counts again, so that the receiver can tell that it is the same work. One that is ordered
  /// after others waits for them again where they are open.
  ///
  /// - Throws: ``LedgerError/dependency(_:)`` where what it is ordered after has not been tried again.
  package func retry(_ id: Handoff.ID) async throws -> Handoff {
    let row = try await write { transaction in
      var row = try transaction.row(id)
      if row.status == .pending, row.waitingReason == WaitingReason.superseded.rawValue {
        try transaction.letGo(row)
        return try transaction.row(id)
      }
      try transaction.tryAgain(&row)
      return row
    }
    return try Handoff(row)
  }
}

extension LedgerTransaction {
  /// Makes a handoff that a person wants tried again due: at once, or at the moment that its sender wants
  /// it published.
  func tryAgain(_ row: inout HandoffRow) throws {
    let now = self.now
    let waiting = try mustWaitAgain(row) ? Handoff.Waiting(.after) : momentToPublish(row.id)
    try renewToken(of: row)
    switch row.status {
    case .outcomeUnknown, .needsUser: row.leaveInDoubt()
    default: row.leaveBehind(row.error?.effect)
    }
    try forgetRestored(row.id)
    try move(&row, .retry) { row in
      row.finishedAt = nil
      row.result = nil
      row.consumedAt = nil
      row.ceilingAt = nil
      row.failures = 0
      row.firstAttemptAt = nil
      row.isSuperseded = false
      row.cancelRequestedAt = nil
      row.wait(waiting, now: now)
    }
  }

  fileprivate func apply(
    _ standing: HandoffKnowledge.Standing,
    _ need: String?,
    to row: inout HandoffRow
  ) throws {
    let now = self.now
    let wait = suspectWait(row.id)
    switch standing {
    case .notReceived where row.cancelRequestedAt != nil:
      // Nothing happened there, and a person does not want it any more.
      row.earlierEffect = nil
      try withdraw(&row, nil)
    case .notReceived:
      try move(&row, .notReceived) { row in
        // No attempt has reached it, so what was feared of one did not happen.
        row.earlierEffect = nil
        row.error?.effect = Effect.none.rawValue
        row.comeBack(wait, now: now)
        row.ceilingAt = nil
      }
    case .working:
      if row.status != .accepted { try move(&row, .accept) }
    case .needsUser:
      try needUser(need, &row)
    case .unknown:
      if row.status != .outcomeUnknown { try move(&row, .loseTrack) }
    case .finished:
      break
    }
  }

  /// It waits for a person; only what is new is recorded.
  fileprivate func needUser(_ need: String?, _ row: inout HandoffRow) throws {
    guard row.status != .needsUser || row.userNeed != need else { return }
    try move(&row, .needUser, detail: need) { row in row.userNeed = need }
  }

  /// Ends a handoff at its moment.
  ///
  /// What is with a receiver may happen, whatever came of an attempt before.
  func expire(_ row: inout HandoffRow) throws {
    let wasSent = row.status != .pending && row.status != .leased
    try move(&row, .expire) { row in
      row.error = HandoffRow.StoredError(
        ResultError(.expired, "no result came in time", effect: wasSent ? .unknown : .none),
        .broker
      )
    }
  }

  fileprivate func overdueRows() throws -> [HandoffRow] {
    try connection.rows(Self.overdue, [.integer(now)]) { row in try HandoffRow(row) }
  }

  fileprivate func staleLeases() throws -> [HandoffRow] {
    try connection.rows(Self.staleLeases, [.integer(now)]) { row in try HandoffRow(row) }
  }

  func endWaiting(
    _ reason: WaitingReason,
    _ destination: DestinationName
  ) throws -> Int {
    let count = try connection.run(
      Self.endWaiting,
      [.text(destination.text), .text(reason.rawValue), .integer(now)]
    )
    if count > 0 { touch(destination.text) }
    return count
  }

  // The limits bound how long one transaction holds up the others; the rest is found the next time. They
  // stand in the inner parts too: else each batch would collect all that is overdue.
  private static let overdue = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE id IN (
      SELECT id FROM (SELECT id FROM handoffs WHERE expires_at <= ?1 AND expires_at IS NOT NULL
        AND finished_at IS NULL ORDER BY expires_at LIMIT 200)
      UNION SELECT id FROM (SELECT id FROM handoffs WHERE ceiling_at <= ?1
        AND ceiling_at IS NOT NULL AND finished_at IS NULL ORDER BY ceiling_at LIMIT 200))
    ORDER BY id LIMIT 200
    """
  )
  private static let staleLeases = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE status = 'leased' AND lease_until <= ?1
      AND finished_at IS NULL AND status <> 'pending'
    ORDER BY id LIMIT 500
    """
  )
  private static let endWaiting = SQL(
    """
    UPDATE handoffs SET waiting_reason = NULL, waiting_until = NULL, due_at = ?3,
      is_superseded = is_superseded AND waiting_reason <> 'superseded'
    WHERE status = 'pending' AND destination = ?1 AND waiting_reason = ?2
    """
  )
}
