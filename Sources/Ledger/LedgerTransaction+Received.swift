import HandoffCore
import HandoffProtocol
import SQLite

/// The records of results that came: bounded, however many are brought.
extension LedgerTransaction {
  /// So many late results of one handoff are kept; those after them are counted.
  static let mostLateResults: Int64 = 16
  /// Results without a handoff are one record for so long.
  private static let strayInterval: Int64 = 3_600_000

  /// Keeps a result that counted, with all that it said.
  func keep(
    _ received: ReceivedResult,
    _ verdict: StoredConsumption,
    of row: HandoffRow
  ) throws -> StoredConsumption {
    try insert(received, verdict, of: row.id)
    return verdict
  }

  /// Records a result of a known handoff that does not count: the first of its kind with an event, the
  /// others as a number.
  func refuse(
    _ received: ReceivedResult,
    _ verdict: StoredConsumption,
    _ row: HandoffRow
  ) throws -> StoredConsumption {
    if try hasRoom(for: received, verdict, row) {
      try record(
        "result_refused",
        of: row,
        at: received.origin,
        detail: "\(received.kind): \(verdict.verdict)"
      )
      try insert(received, verdict, of: row.id)
    }
    return verdict
  }

  /// Counts a result that names nobody: there is no handoff to show it with, and no event for every
  /// guess.
  func refuseStray(
    _ received: ReceivedResult,
    _ verdict: StoredConsumption
  ) throws -> StoredConsumption {
    let counted = try connection.run(
      ReceivedQueries.countStray,
      [
        .text(received.origin), .text(verdict.verdict), .integer(now - Self.strayInterval),
        .integer(now),
      ]
    )
    if counted == 0 { try insert(received, verdict, of: nil) }
    return verdict
  }

  /// Whether a refused result is to be kept; else it was counted with the last that is like it.
  private func hasRoom(
    for received: ReceivedResult,
    _ verdict: StoredConsumption,
    _ row: HandoffRow
  ) throws -> Bool {
    if case .late = verdict {
      let kept = try connection.first(
        ReceivedQueries.numberOfLate,
        [.integer(row.id), .text(received.kind)]
      ) { row in (all: try row.integer(0), alike: try row.integer(1)) }
      // The first of each kind is kept in any case: a success may be adopted.
      guard let kept, kept.all >= Self.mostLateResults, kept.alike > 0 else { return true }
    }
    let counted = try connection.run(
      ReceivedQueries.count,
      [
        .integer(row.id), .text(verdict.verdict), .text(received.kind), .text(received.origin),
        .integer(now),
      ]
    )
    return counted == 0
  }

  private func insert(
    _ received: ReceivedResult,
    _ verdict: StoredConsumption,
    of handoff: Int64?
  ) throws {
    let keepsWords = verdict.keepsWords
    try connection.run(
      ReceivedQueries.insert,
      [
        .optional(handoff), .text(received.origin), .integer(now), .text(received.kind),
        .optional(keepsWords ? received.output : nil), .optional(received.error?.code.text),
        .optional(keepsWords ? received.error?.message : nil),
        .optional(received.error?.effect.rawValue), .text(verdict.verdict),
      ]
    )
  }
}

extension StoredConsumption {
  /// What the result said is of use to somebody.
  fileprivate var keepsWords: Bool {
    switch self {
    case .applied, .retried, .late: true
    case .alreadyConsumed, .unknownState, .wrongDestination, .malformed, .pastAttempt: false
    }
  }
}

private enum ReceivedQueries {
  static let insert = SQL(
    """
    INSERT INTO received_results (handoff, destination, received_at, result, output, error_code,
      error_message, error_effect, verdict) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    """
  )
  static let count = SQL(
    """
    UPDATE received_results SET times = times + 1, last_at = ?5
    WHERE id = (SELECT id FROM received_results WHERE handoff = ?1 AND verdict = ?2 AND result = ?3
      AND destination = ?4 ORDER BY id DESC LIMIT 1)
    """
  )
  static let countStray = SQL(
    """
    UPDATE received_results SET times = times + 1, last_at = ?4
    WHERE id = (SELECT id FROM received_results WHERE handoff IS NULL AND destination = ?1
      AND verdict = ?2 AND received_at > ?3 ORDER BY received_at DESC LIMIT 1)
    """
  )
  static let numberOfLate = SQL(
    """
    SELECT count(*), count(*) FILTER (WHERE result = ?2) FROM received_results
    WHERE handoff = ?1 AND verdict = 'late'
    """
  )
}
