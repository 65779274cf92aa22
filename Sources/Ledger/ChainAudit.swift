import Digests
import SQLite

/// Computes the chain of events anew, page after page, and remembers what does not fit.
struct ChainAudit: Sendable {
  /// What the head file says.
  let known: ChainHead
  private(set) var findings = AuditFindings()
  /// How many events were looked at.
  private(set) var events: Int64 = 0
  private(set) var prunedRanges: Int64 = 0
  private(set) var prunedEvents: Int64 = 0
  /// How far it has come.
  private(set) var sequence: Int64 = 0
  /// Nil where it cannot be known, after a gap.
  private var code: [UInt8]? = ChainHead.start.code
  private var position = Int64.min
  private var ranges: ArraySlice<PrunedRange> = []
  private var hasBegun = false

  init(known: ChainHead) {
    self.known = known
  }

  /// How many events are read at once, so that the log of the database is never held for long.
  static let pageSize: Int64 = 2_000

  /// Looks at the next page; false once there is no more.
  mutating func readPage(_ connection: Connection, _ keys: LedgerKeys) throws -> Bool {
    if !hasBegun { try begin(connection) }
    var chain = try EventChain(keys)
    let rows = try connection.rows(
      Self.page,
      [.integer(position), .integer(Self.pageSize)]
    ) { row in
      (seq: try row.integer(0), event: try Event(row), code: try row.blob(10))
    }
    let isLast = rows.count < Self.pageSize
    let limit = isLast ? Int64.max : rows.last?.seq ?? .max
    // A ledger that a newer release has not opened yet has dropped none.
    let mayHaveRanges = try connection.schemaVersion() >= Schema.pruningVersion
    ranges =
      try mayHaveRanges ? PrunedRange.beyond(sequence, to: limit, in: connection)[...] : []
    for row in rows {
      try bridge(to: row.seq, keys)
      try look(at: row.seq, row.event, row.code, &chain)
      position = row.seq
    }
    if isLast {
      while let range = ranges.popFirst() {
        noteGap(upTo: range.first - 1)
        try jump(over: range, keys)
      }
      if sequence < known.sequence {
        findings.add(.cut, from: sequence + 1, to: known.sequence)
      }
    }
    return !isLast
  }

  /// What the chain says of itself, once there are no more pages.
  var verdict: ChainVerdict {
    guard let first = findings.all.first else { return .intact(events: events) }
    if first.kind == .cut { return .cut(found: (first.first ?? 1) - 1, expected: known.sequence) }
    return .broken(sequence: first.first ?? 0)
  }

  /// Without the head file nobody can tell whether the end was cut off; without events there is no end.
  mutating func noteMissingHead() {
    if sequence > 0 { findings.add(AuditFinding(kind: .headMissing)) }
  }

  /// Reads all pages at once; blocks.
  static func verdict(
    _ connection: Connection,
    _ keys: LedgerKeys,
    known: ChainHead
  ) throws -> ChainVerdict {
    var audit = ChainAudit(known: known)
    while try audit.readPage(connection, keys) {}
    return audit.verdict
  }

  /// After what another key has proven, where this one begins later than the chain.
  private mutating func begin(_ connection: Connection) throws {
    hasBegun = true
    guard let start = try ChainStart.read(connection) else { return }
    if try !ChainStart.isConfirmed(start, connection) {
      findings.add(.changed, from: start.sequence + 1, to: start.sequence + 1)
    }
    position = start.sequence
    sequence = start.sequence
    code = start.code
  }

  /// Goes on until just before an event, over what was pruned; what is missing besides is found.
  private mutating func bridge(to next: Int64, _ keys: LedgerKeys) throws {
    while let range = ranges.first, range.first <= next {
      ranges.removeFirst()
      guard range.last > sequence else { continue }
      noteGap(upTo: range.first - 1)
      try jump(over: range, keys)
    }
    noteGap(upTo: next - 1)
  }

  private mutating func noteGap(upTo last: Int64) {
    guard last > sequence else { return }
    findings.add(.removed, from: sequence + 1, to: last)
    sequence = last
    code = nil
  }

  private mutating func jump(over range: PrunedRange, _ keys: LedgerKeys) throws {
    let isGenuine = try range.isGenuine(keys)
    // A run that was pruned while this goes on may begin before the place that was reached.
    let fits = range.first != sequence + 1 || code == nil || code == range.before
    if !isGenuine || !fits { findings.add(.inventedPruning, from: range.first, to: range.last) }
    prunedRanges += 1
    prunedEvents += range.count
    move(to: range.last, isGenuine ? range.after : nil)
  }

  private mutating func look(
    at seq: Int64,
    _ event: Event,
    _ stored: [UInt8],
    _ chain: inout EventChain
  ) throws {
    events += 1
    guard seq > sequence else { return findings.add(.inserted, from: seq, to: seq) }
    if let code {
      let head = try chain.head(
        after: ChainHead(sequence: sequence, code: code),
        appending: event
      )
      if head.code != stored { findings.add(.changed, from: seq, to: seq) }
    }
    // From here on it is compared with what stands there, so that only what was changed is found.
    move(to: seq, stored)
  }

  private mutating func move(to next: Int64, _ code: [UInt8]?) {
    sequence = next
    self.code = code
    if next == known.sequence, next > 0, let code, code != known.code {
      findings.add(.headDiffers, from: next, to: next)
    }
  }

  private static let page = SQL(
    "SELECT \(Event.columns) FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2"
  )
}
