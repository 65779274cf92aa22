import HandoffProtocol
import SQLite

/// What the chain of events says of itself.
package enum ChainVerdict: Hashable, Sendable {
  /// Every event is the one that was written, and none is missing up to what the head file knows.
  case intact(events: Int64)
  /// The first event that does not fit: it, or one before it, was changed, removed or put in.
  case broken(sequence: Int64)
  /// The last events are missing: the head file knows more.
  case cut(found: Int64, expected: Int64)
  /// The key cannot be read, so nothing can be proven.
  case keyUnavailable
}

/// What an audit has found out.
package struct LedgerAudit: Hashable, Sendable {
  /// Events that were proven.
  package internal(set) var events: Int64 = 0
  /// The number of the last event.
  package internal(set) var lastSequence: Int64 = 0
  package internal(set) var prunedRanges: Int64 = 0
  package internal(set) var prunedEvents: Int64 = 0
  /// Events from before the present key, since the ledger was restored without its own: not looked at.
  package internal(set) var unprovenEvents: Int64 = 0
  package internal(set) var handoffs: Int64 = 0
  package internal(set) var assets: Int64 = 0
  /// At most a thousand; the others are counted.
  package internal(set) var findings: [AuditFinding] = []
  package internal(set) var findingCount = 0
}

/// How far an audit is.
package struct AuditProgress: Hashable, Sendable {
  /// Events, handoffs and assets that were looked at.
  package let done: Int64
  package let total: Int64
}

extension LedgerReading {
  /// Computes the chain of events anew and compares.
  package func verifyChain() async throws -> ChainVerdict {
    guard let chain = try await auditChain({ _ in }) else { return .keyUnavailable }
    return chain.verdict
  }

  /// Verifies the chain of events, and that the tables say what it says.
  ///
  /// It reads in short pages, while a broker runs or not; what is written meanwhile may be looked at or
  /// not.
  ///
  /// - Parameter progress: told after each page; must not block.
  /// - Returns: what was found; nil where the key cannot be read, so that nothing can be proven.
  /// - Throws: where the ledger cannot be read.
  package func audit(
    _ progress: @Sendable (AuditProgress) -> Void = { _ in }
  ) async throws -> LedgerAudit? {
    let (all, unproven) = try await readings.queue.read { connection in
      let last = try ChainStart.read(connection)?.sequence ?? 0
      return (
        try connection.first(AuditQueries.total) { row in try row.integer(0) } ?? 0,
        try connection.first(AuditQueries.until, [.integer(last)]) { row in try row.integer(0) }
          ?? 0
      )
    }
    let total = all - unproven
    var done: Int64 = 0
    guard
      var chain = try await auditChain({ events in
        progress(AuditProgress(done: events, total: total))
      })
    else { return nil }
    if try HeadFile.read(readings.files.head) == nil { chain.noteMissingHead() }
    done = chain.events
    var tables = TableAudit(findings: chain.findings)
    while true {
      let next = tables
      let (page, isMore) = try await readings.queue.read { connection in
        var page = next
        let isMore = try page.readPage(connection)
        return (page, isMore)
      }
      tables = page
      progress(AuditProgress(done: done + tables.handoffs + tables.assets, total: total))
      if !isMore { break }
    }
    return LedgerAudit(
      events: chain.events,
      lastSequence: chain.sequence,
      prunedRanges: chain.prunedRanges,
      prunedEvents: chain.prunedEvents,
      unprovenEvents: unproven,
      handoffs: tables.handoffs,
      assets: tables.assets,
      findings: tables.findings.all,
      findingCount: tables.findings.count
    )
  }

  private func auditChain(_ progress: (Int64) -> Void) async throws -> ChainAudit? {
    guard let keys = readings.keys else { return nil }
    // Read before the events: what is committed meanwhile only makes the chain longer.
    let known = try HeadFile.read(readings.files.head) ?? .start
    var audit = ChainAudit(known: known)
    while true {
      let next = audit
      let (page, isMore) = try await readings.queue.read { connection in
        var page = next
        let isMore = try page.readPage(connection, keys)
        return (page, isMore)
      }
      audit = page
      progress(audit.events)
      if !isMore { return audit }
    }
  }
}

private enum AuditQueries {
  static let total = SQL(
    """
    SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM handoffs)
      + (SELECT count(*) FROM assets)
    """
  )
  static let until = SQL("SELECT count(*) FROM events WHERE seq <= ?1")
}
