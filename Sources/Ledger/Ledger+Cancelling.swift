package import HandoffCore
package import HandoffProtocol
import SQLite

extension Ledger {
  /// Takes a person's wish that a handoff ends.
  ///
  /// What was not sent ends at once. What was sent and can still be told there keeps its status: the
  /// wish is recorded, and the receiver's answer ends it. What was sent and can be told nobody is
  /// cancelled with effect `unknown`, since it may still happen.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - reach: who hears of it, for each status in which it was sent.
  /// - Returns: the handoff as it is now.
  /// - Throws: ``LedgerError/hasEnded(_:_:)`` for one that has ended.
  package func cancel(
    _ id: Handoff.ID,
    _ reach: @escaping @Sendable (HandoffStatus) -> CancelReach = { _ in .nobody }
  ) async throws -> Handoff {
    let row = try await write { transaction in
      var row = try transaction.row(id)
      try transaction.cancel(&row, reach)
      return row
    }
    return try Handoff(row)
  }

  /// Records that a receiver which should be told of a wish to cancel could not be, or does not know what
  /// became of the handoff: it is cancelled, and may still happen.
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - doubt: which of both, for people.
  /// - Returns: the handoff as it is now, whatever ended it.
  /// - Throws: where the ledger cannot be written.
  package func recordUncertainCancel(
    _ id: Handoff.ID,
    _ doubt: CancelDoubt = .cannotBeAsked
  ) async throws -> Handoff {
    let row = try await write { transaction in
      var row = try transaction.row(id)
      if row.cancelRequestedAt != nil, !row.status.isFinal {
        try transaction.withdraw(&row, transaction.mayStillHappen(doubt))
      }
      return row
    }
    return try Handoff(row)
  }

  /// What people wish cancelled and a destination's receiver has not answered yet, with the requests as
  /// they were sent.
  package func cancelWishes(destination: DestinationName) async throws -> [ClaimedHandoff] {
    try claimed(
      try await readings.queue.read { connection in
        try connection.rows(CancelQueries.wishes, [.text(destination.text)]) { row in
          try HandoffRow(row)
        }
      }
    )
  }
}

extension LedgerTransaction {
  fileprivate func cancel(
    _ row: inout HandoffRow,
    _ reach: (HandoffStatus) -> CancelReach
  ) throws {
    switch row.status {
    case .pending, .leased: try withdraw(&row, row.error)
    case .submitted, .accepted, .needsUser, .outcomeUnknown:
      switch reach(row.status) {
      case .receiver: try wish(&row)
      case .nobody: try withdraw(&row, mayStillHappen(.cannotBeAsked))
      case .ended: try withdraw(&row, mayStillHappen(.processEnded))
      }
    case .succeeded, .cancelled, .refused, .failed, .expired:
      throw LedgerError.hasEnded(row.handoffID, row.status)
    }
  }

  /// Ends it as a person wished.
  func withdraw(_ row: inout HandoffRow, _ error: HandoffRow.StoredError?) throws {
    try move(&row, .withdraw) { row in
      row.result = "cancelled"
      row.error = error
    }
  }

  /// A second wish is a new one, which the receiver hears of too.
  private func wish(_ row: inout HandoffRow) throws {
    row.cancelRequestedAt = max(now, (row.cancelRequestedAt ?? 0) + 1)
    try save(row, from: row.status)
    try record("cancel_requested", of: row)
  }

  func mayStillHappen(_ doubt: CancelDoubt) -> HandoffRow.StoredError {
    let message =
      switch doubt {
      case .cannotBeAsked:
        "cancelled after it was sent, and the receiver could not be asked: it may still happen"
      case .noAnswer:
        "cancelled after it was sent; the receiver was asked, and gave no answer that tells what "
          + "became of it: it may still happen"
      case .processEnded:
        "cancelled after its receiver's process had ended: what that did may stay done"
      }
    return HandoffRow.StoredError(
      ResultError(
        .interrupted,
        message,
        effect: .unknown,
        remedy: "look at the destination; a success that comes later is kept, and `handoff adopt` "
          + "takes it"
      ),
      .broker
    )
  }
}

private enum CancelQueries {
  static let wishes = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs
    WHERE destination = ?1 AND cancel_requested_at IS NOT NULL AND finished_at IS NULL
      AND status <> 'pending' AND status <> 'leased'
    ORDER BY id
    """
  )
}
