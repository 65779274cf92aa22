package import HandoffCore
package import HandoffProtocol
import SQLite

/// What the ledger itself sees to at one destination, whoever claims there.
package struct DestinationRules: Hashable, Sendable {
  /// A person approves each handoff before it is claimed.
  package var needsApproval: Bool
  package var quota: Quota?
  /// What is given instead of the original, so that an approval is of its content.
  package var rendition: RenditionName?

  package init(needsApproval: Bool = false, quota: Quota? = nil, rendition: RenditionName? = nil) {
    self.needsApproval = needsApproval
    self.quota = quota
    self.rendition = rendition
  }
}

extension Ledger {
  /// Puts rules in force, for every claim and submission from now on.
  ///
  /// Where approval is new, what is pending without one waits for it; where it is gone, what waited for
  /// it goes on. Where a quota is new or longer, what was submitted within it counts.
  ///
  /// - Parameter rules: destinations that are not named have none.
  /// - Returns: the destinations whose rules have changed.
  /// - Throws: where the ledger cannot be written; nothing has changed then.
  @discardableResult
  package func setRules(
    _ rules: [DestinationName: DestinationRules]
  ) async throws -> [DestinationName] {
    let named = Dictionary(uniqueKeysWithValues: rules.map { ($0.text, $1) })
    let changed = try await write { transaction in try transaction.setRules(named) }
    return changed.compactMap { DestinationName($0) }
  }
}

extension LedgerTransaction {
  fileprivate func setRules(_ new: [String: DestinationRules]) throws -> [String] {
    let new = new.filter { $0.value != DestinationRules() }
    let old = rules
    let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
    for name in changed {
      let (before, after) = (old[name] ?? DestinationRules(), new[name] ?? DestinationRules())
      try save(new[name], of: name)
      rules[name] = new[name]
      if before.needsApproval != after.needsApproval {
        try setApproval(after.needsApproval, of: name)
      }
      if let quota = after.quota, quota.duration > before.quota?.duration ?? .zero {
        try takePlaces(ofSubmissionsTo: name, within: quota)
      }
      if after.quota == nil { try forgetPlaces(of: name) }
      touch(name)
    }
    return changed
  }

  private func save(_ rules: DestinationRules?, of name: String) throws {
    guard let rules else {
      try connection.run(RuleQueries.delete, [.text(name)])
      return
    }
    try connection.run(
      RuleQueries.save,
      [
        .text(name), .flag(rules.needsApproval), .optional(rules.quota.map { Int64($0.count) }),
        .optional(rules.quota?.duration.wholeMilliseconds), .optional(rules.rendition?.text),
      ]
    )
  }

  private func setApproval(_ isNeeded: Bool, of name: String) throws {
    let sql = isNeeded ? RuleQueries.hold : RuleQueries.letGo
    let count = try connection.run(sql, [.text(name), .integer(now)])
    let kind = isNeeded ? "approval_on" : "approval_off"
    try record(Event(at: now, kind: kind, destination: name, detail: "\(count) handoffs"))
    try isNeeded && count > 0 ? tellOfApprovals(name) : endApprovals(name)
  }
}

extension DestinationRules {
  /// The rules as the ledger has them.
  static func read(_ connection: Connection) throws -> [String: DestinationRules] {
    let rows = try connection.rows(RuleQueries.all) { row in
      var rules = DestinationRules(needsApproval: try row.flag(1))
      rules.rendition = try row.optionalText(4).flatMap { RenditionName($0) }
      if let count = try row.optionalInteger(2), let time = try row.optionalInteger(3) {
        rules.quota = Quota(count: Int(count), duration: .milliseconds(time))
      }
      return (try row.text(0), rules)
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }
}

private enum RuleQueries {
  static let all = SQL(
    "SELECT destination, approval, quota_count, quota_ms, rendition FROM destination_rules"
  )
  static let save = SQL(
    """
    INSERT INTO destination_rules (destination, approval, quota_count, quota_ms, rendition)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (destination) DO UPDATE SET approval = ?2, quota_count = ?3, quota_ms = ?4,
      rendition = ?5
    """
  )
  static let delete = SQL("DELETE FROM destination_rules WHERE destination = ?1")
  // What waits for something that only another event ends is looked at when it is claimed.
  static let hold = SQL(
    """
    UPDATE handoffs SET waiting_reason = 'approval', waiting_until = NULL, due_at = NULL
    WHERE status = 'pending' AND destination = ?1 AND ?2 IS NOT NULL AND due_at IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM approvals AS a
        WHERE a.handoff = handoffs.id AND a.voided_at IS NULL)
    """
  )
  static let letGo = SQL(
    """
    UPDATE handoffs SET \(HandoffRow.waitForMoment)
    WHERE status = 'pending' AND destination = ?1 AND waiting_reason = 'approval'
    """
  )
}
