import Digests
import HandoffCore
import HandoffProtocol
import SQLite

extension LedgerTransaction {
  /// Decides what a result means, changes what it changes, and records it in any case.
  ///
  /// - Parameters:
  ///   - received: what came.
  ///   - terms: when a failed attempt may be made again.
  ///   - attempt: the one whose own end this is; a later one is not ended by its failure.
  /// - Returns: what it has changed.
  /// - Throws: ``SQLiteError``.
  func consume(
    _ received: ReceivedResult,
    _ terms: RetryTerms,
    attempt: Int? = nil
  ) throws -> StoredConsumption {
    guard let id = received.row, var row = try optionalRow(id),
      constantTimeEqual(row.tokenDigest, received.tokenDigest)
    else {
      return try refuseStray(received, .unknownState)
    }
    let isOrphan = received.isOrphan(of: row.destination)
    guard isOrphan || received.mayAnswer(row.destination) else {
      return try refuse(received, .wrongDestination, row)
    }
    if row.isOverdue(at: now), !row.status.isFinal { try expire(&row) }
    // That it happened is true of the handoff, whichever attempt it was.
    if received.kind != "success", row.isPast(attempt) { return .pastAttempt }
    switch row.status {
    case .succeeded, .cancelled, .refused, .failed, .expired:
      guard row.consumedAt == nil else { return try refuse(received, .alreadyConsumed, row) }
      return try keepLate(received, &row)
    case .pending, .leased:
      // Its last attempt has had its answer, and nothing was sent since.
      return try refuse(received, .alreadyConsumed, row)
    case .outcomeUnknown where row.isHeldAsMalformed && received.leavesOpen:
      // Whose answer could not be read is not believed that nothing happened: a person decides.
      row.lateResults += 1
      try save(row, from: row.status)
      return try refuse(received, .late(row), row)
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
    if let fault = versionFault(received, row) {
      return try refuse(received, .malformed(fault), row)
    }
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
    if let fault = versionFault(received, row) {
      let error = ResultError(.malformedResult, fault, effect: .unknown)
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

  /// Why a result does not answer in the version of its request; nil where it does.
  private func versionFault(_ received: ReceivedResult, _ row: HandoffRow) -> String? {
    guard Int64(received.version) != row.protocolVersion else { return nil }
    return "result of version \(received.version) for a request of version \(row.protocolVersion)"
  }

  private func end(
    _ row: inout HandoffRow,
    _ event: HandoffEvent,
    _ received: ReceivedResult
  ) throws {
    let now = self.now
    try move(&row, event, detail: received.address) { row in
      row.earlierEffect = nil
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
    // What holds it stays on record, whatever fails after it.
    if row.isHeldAsMalformed, error.effect == .unknown { return .applied(row) }
    var event = error.event(
      from: row.status,
      mayRetry: next != nil,
      repeatsUnknown: terms.policy?.repeatsUnknown ?? false
    )
    // It is sent again only while somebody wants it: nobody does after a wish to cancel.
    let isAnother = event == .failure(.none, retry: true) || event == .sendAgain
    if isAnother, row.cancelRequestedAt != nil {
      event = .withdraw
    } else if isAnother, try isRestored(row.id) {
      event = .failure(.unknown, retry: false)
    }
    event = row.afterEarlierAttempts(event)
    try move(&row, event, detail: error.code.text) { row in
      row.failures += 1
      row.error = HandoffRow.StoredError(error, side)
      if event == .sendAgain { row.leaveInDoubt() }
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
}
