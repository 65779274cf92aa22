import HandoffCore
import HandoffProtocol
import SQLite

/// Handoffs that are ordered after others.
///
/// They are looked at once a piece of work has made all its moves, in the same transaction: within it,
/// others hold rows that must not move under their hands. A crash between a success and what becomes due
/// by it is therefore not possible.
extension LedgerTransaction {
  /// What a handoff of a destination waits for; nil where that is nothing.
  func rule(of destination: String) -> HandingOrder.Rule? {
    DestinationName(destination).flatMap { handingOrder.current.rules[$0] }
  }

  /// How it stands with what an existing handoff is ordered after.
  func dependency(of row: HandoffRow) throws -> Dependency {
    guard let rule = rule(of: row.destination) else { return .met }
    let members = try connection.rows(DependencyQueries.members, [.integer(row.id)]) { row in
      DependencyCheck.Member(row: try row.integer(0), name: try row.text(1))
    }
    return try DependencyCheck(connection: connection, rule: rule)
      .standing(of: members, handoff: row.handoffID)
  }

  /// Remembers that a handoff has ended, where somebody may wait for it.
  func noteEnd(of row: HandoffRow) {
    guard let name = DestinationName(row.destination), handingOrder.current.isAwaited(name) else {
      return
    }
    dependencies.ended.append(row.id)
  }

  /// Remembers that a handoff was made, where it waits for others.
  func noteCreation(of row: HandoffRow) {
    if rule(of: row.destination) != nil { dependencies.made.append(row.id) }
  }

  /// Decides what follows from what has ended and what was made in this piece of work.
  func settleDependencies() throws {
    // What ends by this may be waited for in its turn.
    while !dependencies.isEmpty {
      let work = dependencies
      dependencies = Dependencies()
      for id in work.made { try reconsider(id, failsAbsent: true) }
      for ended in work.ended {
        let waiting = try connection.rows(DependencyQueries.waiting, [.integer(ended)]) { row in
          try row.integer(0)
        }
        for id in waiting { try reconsider(id, failsAbsent: true) }
      }
    }
  }

  /// Looks at one pending handoff that waits for others, or is to.
  ///
  /// - Parameters:
  ///   - id: its row.
  ///   - failsAbsent: end it where there is no handoff that it could wait for; else it waits for one.
  /// - Throws: ``LedgerError``, or ``SQLiteError``.
  func reconsider(_ id: Int64, failsAbsent: Bool) throws {
    guard var row = try optionalRow(id), row.status == .pending,
      row.waitingReason == WaitingReason.after.rawValue
    else { return }
    switch try dependency(of: row) {
    case .met: try goOn(&row)
    case .open: break
    case .absent(let error):
      if failsAbsent { try endForDependency(&row, error) }
    case .failed(let error): try endForDependency(&row, error)
    }
  }

  /// What it was ordered after is done: it waits for its moment, or for nothing.
  private func goOn(_ row: inout HandoffRow) throws {
    let isApproved = try isApproved(row)
    row.wait(try isApproved ? momentToPublish(row.id) : Handoff.Waiting(.approval), now: now)
    try save(row, from: .pending)
    if !isApproved { try tellOfApprovals(row.destination) }
    try record("dependency_met", of: row)
    touch(row.destination)
  }

  /// That a handoff waits for the moment that its sender wants it published; nil where it is past, or there
  /// is none.
  func momentToPublish(_ id: Int64) throws -> Handoff.Waiting? {
    guard let moment = try HandoffRow.publishMoment(of: id, connection), moment.milliseconds > now
    else { return nil }
    return .init(.publishAt, until: moment)
  }

  private func endForDependency(_ row: inout HandoffRow, _ error: ResultError) throws {
    let never = RetryTerms(policy: nil, jitter: 0)
    _ = try fail(&row, error, .broker, never, isAnswer: false)
    noteEndedByOrder(row.handoffID)
  }

  /// Whether a handoff that is tried again has to wait for others first.
  ///
  /// - Throws: ``LedgerError/dependency(_:)`` where it would wait in vain.
  func mustWaitAgain(_ row: HandoffRow) throws -> Bool {
    switch try dependency(of: row) {
    case .met: return false
    case .open: return true
    case .absent(let error), .failed(let error): throw LedgerError.dependency(error)
    }
  }

  /// The last look before a handoff is claimed: whatever made it due, it goes only after what it is
  /// ordered after.
  ///
  /// - Returns: false where it does not go now.
  func mayBeClaimed(_ row: inout HandoffRow) throws -> Bool {
    switch try dependency(of: row) {
    case .met: return true
    case .open, .absent:
      row.wait(.init(.after), now: now)
      try save(row, from: .pending)
      touch(row.destination)
    case .failed(let error): try endForDependency(&row, error)
    }
    return false
  }
}

/// What a piece of work has done that others may wait for.
struct Dependencies {
  var ended: [Int64] = []
  var made: [Int64] = []

  var isEmpty: Bool { ended.isEmpty && made.isEmpty }
}

enum DependencyQueries {
  static let members = SQL(
    """
    SELECT a.id, a.identifier FROM handoff_assets AS ha JOIN assets AS a ON a.id = ha.asset
    WHERE ha.handoff = ?1 ORDER BY ha.position
    """
  )
  static let waiting = SQL(
    """
    SELECT DISTINCT h.id FROM handoff_assets AS e JOIN handoff_assets AS w ON w.asset = e.asset
      JOIN handoffs AS h ON h.id = w.handoff
    WHERE e.handoff = ?1 AND h.status = 'pending' AND h.waiting_reason = 'after' ORDER BY h.id
    """
  )
  static let pending = SQL(
    """
    SELECT \(HandoffRow.columns) FROM handoffs WHERE status = 'pending' AND id > ?1
    ORDER BY id LIMIT 500
    """
  )
}
