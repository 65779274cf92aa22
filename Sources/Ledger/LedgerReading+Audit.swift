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

extension LedgerReading {
  /// Computes the chain of events anew and compares.
  package func verifyChain() async throws -> ChainVerdict {
    let readings = self.readings
    guard let keys = readings.keys else { return .keyUnavailable }
    return try await readings.queue.read { connection in
      // Read before the events: what is committed meanwhile only makes the chain longer.
      let known = try HeadFile.read(readings.files.head) ?? .start
      return try ChainAudit.verdict(connection, keys, known: known)
    }
  }
}

enum ChainAudit {
  static func verdict(
    _ connection: Connection,
    _ keys: LedgerKeys,
    known: ChainHead
  ) throws -> ChainVerdict {
    var chain = try EventChain(keys)
    let start = try ChainStart.read(connection)
    if let start, try !ChainStart.isConfirmed(start, connection) {
      return .broken(sequence: start.sequence + 1)
    }
    var head = start ?? .start
    var isKnownHeadSeen = known == .start || known == head
    var broken: Int64?
    try connection.forEach(all, [.integer(start?.sequence ?? .min)]) { row in
      if broken != nil { return }
      head = try chain.head(after: head, appending: try event(row))
      if try head.sequence != row.integer(0) || head.code != row.blob(10) { broken = head.sequence }
      if head == known { isKnownHeadSeen = true }
    }
    if let broken { return .broken(sequence: broken) }
    if head.sequence < known.sequence {
      return .cut(found: head.sequence, expected: known.sequence)
    }
    return isKnownHeadSeen
      ? .intact(events: head.sequence) : .broken(sequence: known.sequence)
  }

  private static func event(_ row: borrowing Row) throws -> Event {
    Event(
      at: try row.integer(1),
      kind: try row.text(2),
      handoff: try row.optionalInteger(3),
      asset: try row.optionalInteger(4),
      destination: try row.optionalText(5),
      from: try row.optionalText(6),
      to: try row.optionalText(7),
      attempt: try row.optionalInteger(8),
      detail: try row.optionalText(9)
    )
  }

  private static let all = SQL(
    """
    SELECT seq, at, event, handoff, asset, destination, from_status, to_status, attempt, detail, mac
    FROM events WHERE seq > ?1 ORDER BY seq
    """
  )
}
