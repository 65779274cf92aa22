package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Claims handoffs that are due, and counts the attempt of each.
  ///
  /// New exports go before back-fill, and in each the longest due first; see
  /// ``HandoffOrder/isBackfill``. Nothing is claimed at a destination that is paused or stopped, or whose
  /// quota has no place, and no handoff that waits for a person's approval: all of it is looked at in the
  /// transaction that claims.
  ///
  /// - Parameters:
  ///   - destination: whose handoffs.
  ///   - limit: at most so many.
  ///   - lease: how long the claim holds without a submission; after it ``expireDue()`` gives the
  ///     handoff back.
  /// - Returns: the claimed handoffs with their requests.
  /// - Throws: where the ledger cannot be written; nothing is claimed then.
  package func claim(
    destination: DestinationName,
    limit: Int,
    lease: Duration
  ) async throws -> [ClaimedHandoff] {
    let rows = try await write { transaction in
      try transaction.claim(destination, limit: limit, lease: lease.wholeMilliseconds)
    }
    return try claimed(rows)
  }

  /// Records that the request is about to be sent: from here on the receiver may act.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - leaseID: the claim under which it is sent.
  ///   - ceiling: the moment after which the handoff can only be expired.
  ///   - version: the protocol version in which it is sent.
  ///   - given: the assets as their receiver is given them; it is recorded of which it gets a rendition.
  /// - Returns: false where it was given back instead, and must not be sent: its destination has been
  ///   paused since, or what a person has approved is not what is there.
  /// - Throws: ``LedgerError/leaseLost(_:)`` where the claim does not hold any more: do not send.
  @discardableResult
  package func recordSubmission(
    _ id: Handoff.ID,
    leaseID: ClaimedHandoff.LeaseID,
    ceiling: Timestamp? = nil,
    version: Int = HandoffRequest.currentVersion,
    given: [Asset] = []
  ) async throws -> Bool {
    let detail = try GivenRendition.detail(of: given)
    return try await write { transaction in
      var row = try transaction.row(id)
      guard row.status == .leased, row.leaseID == leaseID.number else {
        throw LedgerError.leaseLost(id)
      }
      guard try transaction.maySubmit(&row) else { return false }
      let now = transaction.now
      try transaction.move(&row, .submit, detail: detail, saving: .submission) { row in
        row.submittedAt = now
        row.ceilingAt = ceiling?.milliseconds
        row.protocolVersion = Int64(version)
      }
      return true
    }
  }

  /// Gives a claimed handoff back before anything was sent.
  ///
  /// The time for its attempts goes on only where one has failed or was sent before.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - leaseID: the claim that ends.
  ///   - waiting: why it waits now; see ``setWaiting(_:_:)``.
  /// - Throws: ``LedgerError/leaseLost(_:)`` where the claim does not hold any more.
  package func release(
    _ id: Handoff.ID,
    leaseID: ClaimedHandoff.LeaseID,
    waiting: Handoff.Waiting? = nil
  ) async throws {
    try await write { transaction in
      var row = try transaction.row(id)
      guard row.status == .leased, row.leaseID == leaseID.number else {
        throw LedgerError.leaseLost(id)
      }
      let now = transaction.now
      try transaction.move(&row, .release, detail: waiting?.reason.rawValue) { row in
        row.comeBackUnsent(waiting, now: now)
      }
    }
  }

  /// Gives back what was claimed when the broker ended, and returns what receivers may hold:
  /// submitted and accepted handoffs and those that wait for a person, to be reconciled.
  ///
  /// Where the former broker crashed, that is put down to what it had in flight; what is given up for it
  /// is not returned.
  package func recoverAtStart() async throws -> [ClaimedHandoff] {
    let rows = try await write { transaction in
      if let start = try transaction.beginLife() { try transaction.blameBroker(forLifeFrom: start) }
      for var row in try transaction.leasedRows() { try transaction.giveBack(&row) }
      return try transaction.inFlightRows().filter { row in
        guard transaction.isBeyondAsking(row.id) else { return true }
        var row = row
        try transaction.giveUpAsking(&row)
        return false
      }
    }
    return try claimed(rows)
  }

  /// The same for one destination whose receiver the broker itself has ended, while the others go on.
  ///
  /// - Parameter destination: nothing works for it any more, so that nobody holds its claims.
  /// - Returns: what its receiver may hold.
  /// - Throws: where the ledger cannot be written.
  package func recover(_ destination: DestinationName) async throws -> [ClaimedHandoff] {
    let rows = try await write { transaction in
      for var row in try transaction.leasedRows() where row.destination == destination.text {
        try transaction.giveBack(&row)
      }
      return try transaction.inFlightRows().filter { $0.destination == destination.text }
    }
    return try claimed(rows)
  }

  /// Rows with their tokens, which only the key can make.
  func claimed(_ rows: [HandoffRow]) throws -> [ClaimedHandoff] {
    guard !rows.isEmpty else { return [] }
    var mint = try TokenMint(keys)
    return try rows.map { row in
      try ClaimedHandoff(row, token: try mint.token(row: row.id, random: row.tokenRandom))
    }
  }
}

extension LedgerTransaction {
  fileprivate func leasedRows() throws -> [HandoffRow] {
    try connection.rows(Self.leased) { row in try HandoffRow(row) }
  }

  fileprivate func inFlightRows() throws -> [HandoffRow] {
    try connection.rows(Self.inFlight) { row in try HandoffRow(row) }
  }

  /// Ends a claim that nobody holds any more; nothing was sent under it.
  func giveBack(_ row: inout HandoffRow) throws {
    let now = self.now
    let wait = suspectWait(row.id)
    try move(&row, .release, kind: "recovered") { row in
      row.comeBackUnsent(wait, now: now)
    }
  }

  private static let leased = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE status = 'leased'
      AND finished_at IS NULL AND status <> 'pending'
    ORDER BY id
    """
  )
  private static let inFlight = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE status IN ('submitted', 'accepted', 'needs_user')
      AND finished_at IS NULL AND status <> 'pending'
    ORDER BY id
    """
  )
}
