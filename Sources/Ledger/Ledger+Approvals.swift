package import HandoffCore
import HandoffProtocol
import SQLite

/// Why a handoff was not approved.
package struct ApprovalRefused: Error, Hashable, Sendable, CustomStringConvertible {
  package let handoff: Handoff.ID
  /// One sentence for a person.
  package let reason: String

  package var description: String { "handoff \(handoff): \(reason)" }
}

extension Ledger {
  /// A person lets a handoff go that waits for approval: exactly what is in the ledger now.
  ///
  /// The approval holds over further attempts, and is compared with what is there at each claim and
  /// right before each submission.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - expected: the digest of what the person has seen, or at least its first 16 digits; nil where
  ///     nobody says.
  ///   - user: who approves, as far as that is known.
  /// - Returns: what was approved, and whether it had been before.
  /// - Throws: ``ApprovalRefused`` for a handoff that is not pending, a destination that asks for no
  ///   approval, and another digest than expected; ``LedgerError/unknownHandoff(_:)``.
  package func approve(
    _ id: Handoff.ID,
    expecting expected: String?,
    by user: UInt32?
  ) async throws -> (handoff: Handoff, approval: Approval, wasApproved: Bool) {
    let done = try await write { transaction in
      try transaction.approve(id, expecting: expected, by: user)
    }
    return (try Handoff(done.row), done.approval, done.wasApproved)
  }
}

extension LedgerReading {
  /// Where a handoff stands with its approval; nil where there is no such handoff.
  package func approval(of id: Handoff.ID) async throws -> Approval? {
    try await readings.queue.read { connection in try Approval.read(id.row, connection) }
  }

  /// Pending handoffs that wait for a person's approval, the oldest first.
  package func waitingForApproval(limit: Int) async throws -> [Handoff] {
    let rows = try await readings.queue.read { connection in
      try connection.rows(WaitingQueries.forApproval, [.integer(Int64(limit))]) { row in
        try HandoffRow(row)
      }
    }
    return try rows.map { try Handoff($0) }
  }
}

private enum WaitingQueries {
  static let forApproval = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs
    WHERE status = 'pending' AND waiting_reason = 'approval'
      AND destination IN (SELECT destination FROM destination_rules WHERE approval = 1)
    ORDER BY id LIMIT ?1
    """
  )
}

extension LedgerTransaction {
  fileprivate func approve(
    _ id: Handoff.ID,
    expecting expected: String?,
    by user: UInt32?
  ) throws -> (row: HandoffRow, approval: Approval, wasApproved: Bool) {
    let row = try row(id)
    func refuse(_ reason: String) -> ApprovalRefused {
      ApprovalRefused(handoff: id, reason: reason)
    }
    guard row.status == .pending else {
      throw refuse("it is \(row.status.rawValue), and only a pending one can be approved")
    }
    guard rules[row.destination]?.needsApproval == true else {
      throw refuse("\(row.destination) asks for no approval")
    }
    guard let known = try Approval.read(id.row, connection) else {
      throw LedgerError.unknownHandoff(id)
    }
    if let expected, !known.matches(expected) {
      let now = known.digest.hex.prefix(Approval.shortestPrefix)
      throw refuse("what would be sent is not what was seen: its digest is \(now) now")
    }
    if known.isValid { return (row, known, true) }
    try connection.run(
      ApprovalQueries.save,
      [
        .integer(id.row), .blob(known.digest.bytes), .integer(now),
        .optional(user.map { Int64($0) }),
      ]
    )
    let who = user.map { "uid \($0)" } ?? "somebody"
    try record("approved", of: row, detail: "by \(who): \(known.digest.hex)")
    try connection.run(ApprovalQueries.goOn, [.integer(id.row), .integer(now)])
    try endApprovals(row.destination)
    touch(row.destination)
    guard let after = try optionalRow(id.row), let approval = try Approval.read(id.row, connection)
    else { throw LedgerError.unknownHandoff(id) }
    return (after, approval, false)
  }

  /// Whether a handoff may be claimed or sent: nobody has to approve it, or somebody has approved
  /// exactly what is there now.
  ///
  /// An approval of something else ends here.
  func isApproved(_ row: HandoffRow) throws -> Bool {
    guard rules[row.destination]?.needsApproval == true else { return true }
    guard let approval = try Approval.read(row.id, connection), approval.approved != nil else {
      return false
    }
    if approval.isValid { return true }
    let written = try connection.run(ApprovalQueries.void, [.integer(row.id), .integer(now)])
    if written > 0 {
      let detail = "what was approved is not what is there: \(approval.digest.hex)"
      try record("approval_void", of: row, detail: detail)
    }
    return false
  }

  /// Has a pending handoff wait for a person's approval.
  func awaitApproval(_ row: inout HandoffRow) throws {
    row.wait(.init(.approval), now: now)
    try save(row, from: .pending)
    touch(row.destination)
    try tellOfApprovals(row.destination)
  }

  /// Tells the broker's alert that something waits there; once until nothing does any more.
  func tellOfApprovals(_ destination: String) throws {
    guard let alert = routing.alert, let name = DestinationName(destination) else { return }
    try add(.approvalNeeded(name, at: Timestamp(milliseconds: now)), for: alert)
  }

  /// Where nothing waits for approval any more, the next that does is told anew.
  func endApprovals(_ destination: String) throws {
    guard routing.alert != nil, let name = DestinationName(destination) else { return }
    let values: [Value] = [.text(destination)]
    guard try connection.first(ApprovalQueries.isAnyWaiting, values, { _ in true }) == nil else {
      return
    }
    try end(NoticeDraft.approval(at: name))
  }
}
