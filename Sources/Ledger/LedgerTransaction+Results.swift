import Digests
import HandoffCore
import HandoffProtocol
import SQLite

extension LedgerTransaction {
  /// Decides what a result means, changes what it changes, and keeps it in any case.
  func consume(_ received: ReceivedResult, _ terms: RetryTerms) throws -> StoredConsumption {
    guard let id = received.row, var row = try optionalRow(id),
      constantTimeEqual(row.tokenDigest, received.tokenDigest)
    else {
      // It names nobody: there is no handoff to show it with, and no event for every guess.
      return try keep(received, .unknownState, of: nil)
    }
    let isOrphan = received.isOrphan(of: row.destination)
    guard isOrphan || received.mayAnswer(row.destination) else {
      return try refuse(received, .wrongDestination, row)
    }
    if row.isOverdue(at: now), !row.status.isFinal { try expire(&row) }
    switch row.status {
    case .succeeded, .cancelled, .refused, .failed, .expired:
      guard row.consumedAt == nil else { return try refuse(received, .alreadyConsumed, row) }
      return try keepLate(received, &row)
    case .pending, .leased:
      // Its last attempt has had its answer, and nothing was sent since.
      return try refuse(received, .alreadyConsumed, row)
    case .submitted, .accepted, .outcomeUnknown, .needsUser:
      if isOrphan { return try keepLate(received, &row) }
      row.isVerified = received.isVerified
      return try keep(received, try apply(received, to: &row, terms), of: row)
    }
  }

  /// Keeps a result that decides nothing by itself, for a person to adopt.
  private func keepLate(
    _ received: ReceivedResult,
    _ row: inout HandoffRow
  ) throws -> StoredConsumption {
    row.lateResults += 1
    if row.result == nil { row.isVerified = received.isVerified }
    try save(row, from: row.status)
    touch(row.destination)
    return try refuse(received, .late(row), row)
  }

  private func apply(
    _ received: ReceivedResult,
    to row: inout HandoffRow,
    _ terms: RetryTerms
  ) throws -> StoredConsumption {
    if Int64(received.version) != row.protocolVersion {
      let error = ResultError(
        .malformedResult,
        "result of version \(received.version) for a request of version \(row.protocolVersion)",
        effect: .unknown
      )
      return try fail(&row, error, .receiver, terms, isAnswer: true)
    }
    switch received.outcome {
    case .failure(let error):
      return try fail(&row, error, .receiver, terms, isAnswer: true)
    case .success: try end(&row, .success, received)
    case .cancelled: try end(&row, .cancelled, received)
    }
    return .applied(row)
  }

  private func end(
    _ row: inout HandoffRow,
    _ event: HandoffEvent,
    _ received: ReceivedResult
  ) throws {
    let now = self.now
    try move(&row, event) { row in
      row.result = received.kind
      row.output = received.output
      row.error = received.error.map { HandoffRow.StoredError($0, .receiver) }
      row.consumedAt = now
    }
  }

  /// Ends the attempt as failed: tried again where nothing happened and there is time, unless it
  /// was superseded; held where nobody knows; else the end.
  func fail(
    _ row: inout HandoffRow,
    _ error: ResultError,
    _ side: Handoff.Side,
    _ terms: RetryTerms,
    isAnswer: Bool
  ) throws -> StoredConsumption {
    let now = self.now
    let next = terms.next(after: error, of: row, now: now)
    var event = error.event(
      from: row.status,
      mayRetry: next != nil,
      repeatsUnknown: terms.policy?.repeatsUnknown ?? false
    )
    // It is sent again only while somebody wants it: nobody does after a wish to cancel.
    if event == .failure(.none, retry: true), row.cancelRequestedAt != nil { event = .withdraw }
    try move(&row, event, detail: error.code.text) { row in
      row.failures += 1
      row.error = HandoffRow.StoredError(error, side)
      if row.status == .pending {
        row.comeBack(next.map { .init(.backoff, until: Timestamp(milliseconds: $0)) }, now: now)
        row.ceilingAt = nil
      }
      if row.status.isFinal {
        row.result = event == .withdraw ? "cancelled" : "failure"
        row.consumedAt = isAnswer ? now : nil
      }
    }
    if row.status == .pending, !row.isSuperseded, let next { return .retried(row, at: next) }
    return .applied(row)
  }

  /// Keeps a result of a known handoff that does not count.
  private func refuse(
    _ received: ReceivedResult,
    _ verdict: StoredConsumption,
    _ row: HandoffRow
  ) throws -> StoredConsumption {
    try record(
      Event(
        at: now,
        kind: "result_refused",
        handoff: row.id,
        destination: received.origin,
        from: row.status.rawValue,
        to: row.status.rawValue,
        attempt: row.attempts,
        detail: "\(received.kind): \(verdict.verdict)"
      )
    )
    return try keep(received, verdict, of: row)
  }

  private func keep(
    _ received: ReceivedResult,
    _ verdict: StoredConsumption,
    of row: HandoffRow?
  ) throws -> StoredConsumption {
    try connection.run(
      Self.insertResult,
      [
        .optional(row?.id), .text(received.origin), .integer(now),
        .text(received.kind), .optional(received.output), .optional(received.error?.code.text),
        .optional(received.error?.message), .optional(received.error?.effect.rawValue),
        .text(verdict.verdict),
      ]
    )
    return verdict
  }

  private static let insertResult = SQL(
    """
    INSERT INTO received_results (handoff, destination, received_at, result, output, error_code,
      error_message, error_effect, verdict) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    """
  )
}
